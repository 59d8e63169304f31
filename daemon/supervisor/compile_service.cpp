#include "daemon/supervisor/compile_service.hpp"

#include "farcl/kernel_compiler/client.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

namespace farcl::daemon {

namespace {
inline constexpr std::chrono::milliseconds kFirstPause{100};
inline constexpr std::chrono::milliseconds kLongestPause{10'000};
inline constexpr std::chrono::seconds kLivedWell{60}; ///< a death after that is no reason for longer pauses
inline constexpr int kLongestEndMs = 500;             ///< the daemon ends; it leaves no process behind
inline constexpr int kOomScore = 300;                 ///< before the supervisor, after the sessions

Result<std::pair<UniqueFd, UniqueFd>> socket_pair(int type) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail_errno(errno, "cannot make a socket pair");
  }
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

/// A compile service that is stuck must not hold the supervisor, so nothing is sent that would have to wait.
bool takes_more(int socket) {
  pollfd ready{socket, POLLOUT, 0};
  return ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0;
}
} // namespace

void CompileService::start() {
  if (options_.compiler.empty()) {
    logger_.warn("farcl-kc was found neither beside farcld nor in PATH: programs cannot be built (--kc PATH names it)");
    return;
  }
  if (auto status = spawn(); !status) {
    logger_.error("the compile service does not start: " + status.error().message);
    start_later();
  }
}

Status CompileService::spawn() {
  auto ends = socket_pair(SOCK_SEQPACKET);
  if (!ends) {
    return pass_on(std::move(ends));
  }
  ChildSpec spec;
  spec.path = options_.compiler;
  spec.arguments = {
      "farcl-kc", "--control-fd", "3", "--cache", options_.cache_folder, "--build-seconds", std::to_string(options_.build_seconds)};
  spec.fds = {ends->second.get()};
  spec.oom_score_above_parent = kOomScore;
  auto child = ChildProcess::spawn(spec);
  if (!child) {
    return pass_on(std::move(child));
  }
  child_ = std::move(*child);
  control_ = std::move(ends->first);
  ::fcntl(control_.get(), F_SETFL, O_NONBLOCK);
  started_ = EventLoop::Clock::now();
  return loop_.watch(child_.pid_fd(), [this] { on_end(); });
}

void CompileService::on_end() {
  child_.kill_group(); // its build children
  loop_.forget(child_.pid_fd());
  const auto end = child_.reap();
  child_ = ChildProcess();
  control_.reset();
  const std::string how = !end ? end.error().message : (end->by_signal ? "signal " : "exit code ") + std::to_string(end->value);
  logger_.error("the compile service (farcl-kc) ended by itself (" + how + "); it is started again");
  if (EventLoop::Clock::now() - started_ > kLivedWell) {
    pause_ = {};
  }
  start_later();
}

void CompileService::start_later() {
  pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
  timer_ = loop_.run_after(pause_, [this] {
    timer_ = 0;
    if (spawn()) {
      on_restarted_();
    } else {
      start_later();
    }
  });
}

void CompileService::stop() {
  loop_.cancel(timer_);
  if (child_.pid() > 0) {
    loop_.forget(child_.pid_fd());
    child_.kill_group(); // it holds no state worth a farewell
    child_.signal(SIGKILL);
    pollfd ended{child_.pid_fd(), POLLIN, 0};
    ::poll(&ended, 1, kLongestEndMs);
    child_ = ChildProcess();
  }
  control_.reset();
}

Result<UniqueFd> CompileService::connect() {
  auto ends = socket_pair(SOCK_STREAM);
  if (!ends) {
    return pass_on(std::move(ends));
  }
  if (control_) {
    if (!takes_more(control_.get())) {
      logger_.warn("the compile service does not react; a new session cannot build programs");
    } else if (auto status = kernel_compiler::hand_over_connection(control_.get(), std::move(ends->second)); !status) {
      logger_.warn("the compile service takes no connection: " + status.error().message);
    }
  }
  return std::move(ends->first);
}

} // namespace farcl::daemon
