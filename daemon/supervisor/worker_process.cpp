#include "daemon/supervisor/worker_process.hpp"

#include "daemon/common/worker_start.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>

namespace farcl::daemon {

namespace {
inline constexpr int kOomScore = 500; ///< when memory is used up sessions go first, the supervisor last
inline constexpr int kPacketsPerTurn = 16;
/// What a worker needs beside its session's buffers: programs, retained and staged data, and per core a stack, local memory
/// and an allocator's arena.
[[maybe_unused]] constexpr std::uint64_t kWorkerAllowanceBytes = 512u << 20;
[[maybe_unused]] constexpr std::uint64_t kAllowancePerCoreBytes = 64u << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FARCL_SHADOW_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define FARCL_SHADOW_MEMORY 1
#endif
#endif

std::uint64_t data_limit(const WorkerSettings& settings) {
#ifdef FARCL_SHADOW_MEMORY
  static_cast<void>(settings);
  return 0; // the sanitizers' shadow memory counts as data
#else
  return settings.options.session_memory_bytes + kWorkerAllowanceBytes + settings.cores * kAllowancePerCoreBytes;
#endif
}

Status fill_randomly(void* into, std::size_t size) {
  return ::getrandom(into, size, 0) == static_cast<ssize_t>(size) ? Status{} : fail_errno(errno, "no random numbers");
}
} // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const WorkerSettings& settings, std::uint32_t number, int permits_fd,
                                                            UniqueFd compile_service) {
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess());
  worker->number_ = number;
  if (auto status = fill_randomly(worker->session_.data(), worker->session_.size()); !status) {
    return pass_on(std::move(status));
  }
  if (auto status = fill_randomly(worker->secret_.data(), worker->secret_.size()); !status) {
    return pass_on(std::move(status));
  }
  auto page = SharedPage<WorkerPage>::create("farcl-worker");
  if (!page) {
    return pass_on(std::move(page));
  }
  worker->page_ = std::move(*page);
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail_errno(errno, "cannot make a control channel");
  }
  worker->control_.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  ::fcntl(worker->control_.get(), F_SETFL, O_NONBLOCK);

  ChildSpec spec;
  spec.path = "/proc/self/exe";
  spec.arguments = {"farcld", "--worker"};
  spec.fds = {theirs.get(), compile_service.get(), worker->page_.fd(), permits_fd}; // kControlFd, ... in this order
  spec.data_limit_bytes = data_limit(settings);
  spec.oom_score_above_parent = kOomScore;
  auto process = ChildProcess::spawn(spec);
  if (!process) {
    return pass_on(std::move(process));
  }
  worker->process_ = std::move(*process);

  StartWorker start;
  start.worker_number = number;
  start.session = worker->session_;
  start.secret = worker->secret_;
  start.limits = settings.options.session_limits();
  start.devices = settings.options.devices;
  start.spin_us = settings.options.spin_us;
  start.cores = settings.cores;
  start.log_level = static_cast<std::uint8_t>(settings.options.log_level);
  start.insecure = settings.exposed;
  if (auto status = worker->send(start); !status) {
    return pass_on(std::move(status));
  }
  return worker;
}

Status WorkerProcess::attach(const AttachConnection& message, std::span<const int> fds) {
  if (is_over()) {
    return fail(ErrorCode::kClosed, "the session is over");
  }
  return send(message, fds);
}

Status WorkerProcess::read_control() {
  for (int i = 0; i < kPacketsPerTurn; ++i) {
    auto packet = receive_control_packet(control_.get());
    if (!packet) {
      return packet.error().code == ErrorCode::kTimeout ? Status{} : pass_on(std::move(packet));
    }
    if (packet->bytes.empty()) {
      return fail(ErrorCode::kClosed, "it closed its control channel");
    }
    auto message = decode_control<ToSupervisor>(packet->bytes);
    if (!message) {
      return pass_on(std::move(message));
    }
    if (!ended_) {
      ended_ = std::get<SessionEnded>(std::move(*message));
    }
  }
  return {};
}

void WorkerProcess::kill(std::string because) {
  if (!killed_because_) {
    killed_because_ = std::move(because);
    process_.signal(SIGKILL);
  }
}

std::optional<WorkerProcess::Clock::time_point> WorkerProcess::ending_since(Clock::time_point now) {
  const bool ending = ended_ || page().state.load(std::memory_order_acquire) == static_cast<std::uint32_t>(WorkerState::kEnding);
  if (ending && !ending_since_) {
    ending_since_ = now;
  }
  return ending_since_;
}

} // namespace farcl::daemon
