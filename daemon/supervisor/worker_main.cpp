#include "daemon/supervisor/worker_main.hpp"

#include "daemon/common/control_messages.hpp"
#include "daemon/common/worker_start.hpp"
#include "daemon/supervisor/supervisor.hpp"
#include "daemon/worker/worker.hpp"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace farcl::daemon {

namespace {
inline constexpr int kStartTimeoutMs = 10'000;

/// The descriptors as the supervisor arranged them; close-on-exec from here on.
Result<UniqueFd> take_fd(int number) {
  if (::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) {
    return fail(ErrorCode::kInvalid, "--worker is for farcld itself: descriptor " + std::to_string(number) + " is missing");
  }
  return UniqueFd(number);
}

Result<StartWorker> receive_start(int control) {
  pollfd ready{control, POLLIN, 0};
  if (::poll(&ready, 1, kStartTimeoutMs) != 1) {
    return fail(ErrorCode::kTimeout, "the supervisor did not say what to do");
  }
  auto packet = receive_control_packet(control);
  if (!packet) {
    return pass_on(std::move(packet));
  }
  auto message = decode_control<ToWorker>(packet->bytes);
  if (!message || !std::holds_alternative<StartWorker>(*message)) {
    return fail(ErrorCode::kInvalid, "the supervisor's first message makes no sense");
  }
  return std::get<StartWorker>(std::move(*message));
}

/// The pages stay mapped as long as the process lives: threads of a dying worker may still write to them.
template <class T>
Result<T*> map_for_ever(int fd_number) {
  auto fd = take_fd(fd_number);
  if (!fd) {
    return pass_on(std::move(fd));
  }
  auto page = SharedPage<T>::open(std::move(*fd));
  if (!page) {
    return pass_on(std::move(page));
  }
  return (new SharedPage<T>(std::move(*page)))->memory;
}

Result<WorkerStart> gather() {
  WorkerStart start;
  auto control = take_fd(kControlFd);
  auto compile_service = take_fd(kCompileServiceFd);
  auto page = map_for_ever<WorkerPage>(kPageFd);
  auto permits = map_for_ever<SpinPermits>(kPermitsFd);
  if (!control || !compile_service || !page || !permits) {
    return fail(ErrorCode::kInvalid, !control           ? control.error().message
                                     : !compile_service ? compile_service.error().message
                                     : !page            ? page.error().message
                                                        : permits.error().message);
  }
  auto message = receive_start(control->get());
  if (!message) {
    return pass_on(std::move(message));
  }
  start.control = std::move(*control);
  start.compile_service = std::move(*compile_service);
  start.page = *page;
  start.permits = *permits;
  start.worker_number = message->worker_number;
  start.session = message->session;
  start.secret = message->secret;
  start.limits = message->limits;
  start.devices = std::move(message->devices);
  start.spin_us = message->spin_us;
  start.cores = std::max<std::uint32_t>(message->cores, 1);
  start.log_level = static_cast<LogLevel>(std::min<std::uint8_t>(message->log_level, static_cast<std::uint8_t>(LogLevel::kOff)));
  start.insecure = message->insecure;
  return start;
}
} // namespace

int worker_main() {
  ::prctl(PR_SET_NAME, "farcld-worker");
  auto start = gather();
  if (!start) {
    std::fprintf(stderr, "farcld: %s\n", start.error().message.c_str());
    return kExitUsage;
  }
  ::_exit(run_worker(std::move(*start))); // its threads may still run kernels: nothing is destroyed under them
}

} // namespace farcl::daemon
