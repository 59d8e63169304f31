#include "daemon/supervisor/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace farcl::daemon {

namespace {
inline constexpr int kFirstPassedFd = 3;
inline constexpr std::size_t kMaxPassedFds = 16;
inline constexpr int kExecFailed = 127;
inline constexpr int kMaxOomScore = 1000;

/// Everything the child needs, made before the fork: after it only async-signal-safe functions run.
struct Prepared {
  const char* path = nullptr;
  std::vector<char*> arguments;
  std::array<int, kMaxPassedFds> fds{};
  std::size_t fd_count = 0;
  pid_t parent = 0;
  std::uint64_t data_limit_bytes = 0;
  std::array<char, 16> oom_score{};
  std::size_t oom_score_bytes = 0;
};

int own_oom_score() {
  std::array<char, 16> text{};
  const UniqueFd file(::open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC));
  if (file && ::read(file.get(), text.data(), text.size() - 1) > 0) {
    return std::atoi(text.data());
  }
  return 0;
}

[[noreturn]] void give_up(const char* what) {
  const ssize_t ignored = ::write(STDERR_FILENO, what, std::strlen(what));
  static_cast<void>(ignored);
  ::_exit(kExecFailed);
}

void arrange_descriptors(const Prepared& with) {
  std::array<int, kMaxPassedFds> high{};
  const int above = kFirstPassedFd + static_cast<int>(kMaxPassedFds);
  for (std::size_t i = 0; i < with.fd_count; ++i) { // out of the way first: a source may be another's target
    high[i] = ::fcntl(with.fds[i], F_DUPFD_CLOEXEC, above);
    if (high[i] < 0) {
      give_up("farcld: a child could not keep its descriptors\n");
    }
  }
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0 || ::dup2(null, STDOUT_FILENO) < 0) {
    give_up("farcld: a child could not open /dev/null\n");
  }
  for (std::size_t i = 0; i < with.fd_count; ++i) {
    if (::dup2(high[i], kFirstPassedFd + static_cast<int>(i)) < 0) {
      give_up("farcld: a child could not keep its descriptors\n");
    }
  }
  const auto first_closed = static_cast<unsigned>(kFirstPassedFd) + static_cast<unsigned>(with.fd_count);
  if (::syscall(SYS_close_range, first_closed, ~0u, 0u) != 0) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    for (unsigned fd = first_closed; fd < std::min<rlim_t>(limit.rlim_cur, 1u << 20); ++fd) {
      ::close(static_cast<int>(fd));
    }
  }
}

void arrange_signals() {
  struct sigaction action{};
  for (int number = 1; number < NSIG; ++number) {
    action.sa_handler = number == SIGPIPE ? SIG_IGN : SIG_DFL;
    ::sigaction(number, &action, nullptr); // fails for two of them and for libc's own; they have no handler either
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void arrange_limits(const Prepared& with) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (with.data_limit_bytes != 0) {
    rlimit data{};
    ::getrlimit(RLIMIT_DATA, &data);
    data.rlim_cur = data.rlim_max = std::min<rlim_t>(with.data_limit_bytes, data.rlim_max);
    ::setrlimit(RLIMIT_DATA, &data);
  }
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file >= 0) {
    const ssize_t ignored = ::write(file, with.oom_score.data(), with.oom_score_bytes);
    static_cast<void>(ignored);
    ::close(file);
  }
}

[[noreturn]] void become_child(const Prepared& with) {
  ::setsid();
  // Before anything else that takes time: from here on the child cannot outlive its parent, and if it has, it notices now.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != with.parent) {
    ::_exit(kExecFailed);
  }
  arrange_limits(with);
  arrange_descriptors(with);
  arrange_signals();
  ::execv(with.path, with.arguments.data());
  give_up("farcld: a child program could not be started\n");
}
} // namespace

Result<ChildProcess> ChildProcess::spawn(const ChildSpec& spec) {
  FARCL_ASSERT(spec.fds.size() <= kMaxPassedFds);
  Prepared prepared;
  prepared.path = spec.path.c_str();
  for (const std::string& argument : spec.arguments) {
    prepared.arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  prepared.arguments.push_back(nullptr);
  std::copy(spec.fds.begin(), spec.fds.end(), prepared.fds.begin());
  prepared.fd_count = spec.fds.size();
  prepared.parent = ::getpid();
  prepared.data_limit_bytes = spec.data_limit_bytes;
  const int written = std::snprintf(prepared.oom_score.data(), prepared.oom_score.size(), "%d",
                                    std::min(own_oom_score() + spec.oom_score_above_parent, kMaxOomScore));
  prepared.oom_score_bytes = static_cast<std::size_t>(std::max(written, 0));

  const pid_t pid = ::fork();
  if (pid < 0) {
    return fail_errno(errno, "cannot start a process");
  }
  if (pid == 0) {
    become_child(prepared);
  }
  ChildProcess child;
  child.pid_ = pid;
  child.pid_fd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child.pid_fd_) {
    const int reason = errno;
    child.signal(SIGKILL);
    ::waitpid(std::exchange(child.pid_, -1), nullptr, 0); // it has hardly begun: this wait is short
    return fail_errno(reason, "cannot watch a process");
  }
  return child;
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    kill_group();
    signal(SIGKILL);
    static_cast<void>(reap());
  }
}

void ChildProcess::signal(int number) const noexcept {
  if (pid_ > 0) {
    ::kill(pid_, number); // not reaped yet, so the number is still its own
  }
}

void ChildProcess::kill_group() const noexcept {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
  }
}

Result<ChildEnd> ChildProcess::reap() {
  int status = 0;
  const pid_t reaped = pid_ > 0 ? ::waitpid(pid_, &status, WNOHANG) : -1;
  if (reaped == 0) {
    return fail(ErrorCode::kTimeout, "the process still runs");
  }
  if (reaped < 0) {
    return fail_errno(errno, "cannot reap a process");
  }
  pid_ = -1;
  pid_fd_.reset();
  return WIFSIGNALED(status) ? ChildEnd{true, WTERMSIG(status)} : ChildEnd{false, WEXITSTATUS(status)};
}

} // namespace farcl::daemon
