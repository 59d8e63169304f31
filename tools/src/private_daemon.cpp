#include "private_daemon.hpp"

#include "daemon_keeper.hpp"
#include "find_parts.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace farcl::tools {

namespace {
using Clock = std::chrono::steady_clock;
constexpr std::size_t kLogTailBytes = 2000;
constexpr int kStopTimeoutMs = 5000; ///< for a farcld whose keeper was killed, before SIGKILL and after it

std::string log_tail(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  return text.size() > kLogTailBytes ? text.substr(text.size() - kLogTailBytes) : text;
}

// One line of `fd`, waiting until `deadline`. kClosed at its end, kTimeout.
Result<std::string> read_line(int fd, std::string& buffer, Clock::time_point deadline) {
  for (;;) {
    if (const auto end = buffer.find('\n'); end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wait{fd, POLLIN, 0};
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) == 0) {
      return fail(ErrorCode::kTimeout, "farcld did not get ready in time");
    }
    char bytes[512];
    const ssize_t got = ::read(fd, bytes, sizeof bytes);
    if (got > 0) {
      buffer.append(bytes, static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return fail(ErrorCode::kClosed, "farcld ended before it was ready");
    }
  }
}

// The end of a farcld that has been told to stop. It removes its socket then, in the folder that is removed next.
void wait_for_end(int handle) {
  pollfd wait{handle, POLLIN, 0};
  if (handle >= 0 && ::poll(&wait, 1, kStopTimeoutMs) == 0) {
    ::syscall(SYS_pidfd_send_signal, handle, SIGKILL, nullptr, 0);
    ::poll(&wait, 1, kStopTimeoutMs);
  }
}

std::vector<std::string> daemon_arguments(const PrivateDaemonOptions& options, const std::filesystem::path& folder) {
  std::vector<std::string> arguments{"--print-ports", "--unix", (folder / "socket").string()};
  if (options.listen_on_tcp) {
    arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0"});
  }
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  return arguments;
}
} // namespace

PrivateDaemon::PrivateDaemon(PrivateDaemon&& other) noexcept
    : folder_(std::move(other.folder_)), life_(std::move(other.life_)), keeper_(std::exchange(other.keeper_, -1)), daemon_(other.daemon_),
      daemon_handle_(std::move(other.daemon_handle_)), tcp_address_(std::move(other.tcp_address_)) {}

Result<PrivateDaemon> PrivateDaemon::start(const PrivateDaemonOptions& options) {
  auto daemon_path = find_daemon();
  if (!daemon_path) {
    return pass_on(std::move(daemon_path));
  }
  auto folder = TemporaryFolder::create();
  if (!folder) {
    return pass_on(std::move(folder));
  }
  int life[2];
  int report[2];
  if (::pipe2(life, O_CLOEXEC) != 0 || ::pipe2(report, O_CLOEXEC) != 0) {
    return fail_errno(errno, "cannot make a pipe");
  }
  const KeeperTask task{*daemon_path, daemon_arguments(options, folder->path()), folder->path(), life[0], report[1], options.show_log};
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    keep_daemon(task);
  }
  ::close(life[0]);
  ::close(report[1]);
  const UniqueFd report_end(report[0]);
  PrivateDaemon daemon(std::move(*folder), UniqueFd(life[1]), keeper);
  if (keeper < 0) {
    return fail_errno(errno, "cannot start a process");
  }
  if (auto ready = daemon.wait_until_ready(report_end.get(), options.start_timeout); !ready) {
    Error error = std::move(ready).error();
    error.message += "\n" + log_tail(daemon.folder() / "farcld.log");
    return tl::unexpected(std::move(error));
  }
  return daemon;
}

// What farcld prints with --print-ports: one line per address, as POCL_REMOTE_SERVERS takes it, then "ready".
Status PrivateDaemon::wait_until_ready(int report_fd, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (std::string buffer;;) {
    auto line = read_line(report_fd, buffer, deadline);
    if (!line) {
      return pass_on(std::move(line));
    }
    if (line->starts_with("pid ")) {
      std::from_chars(line->data() + 4, line->data() + line->size(), daemon_);
      daemon_handle_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, daemon_, 0)));
    } else if (*line == "ready") {
      return {};
    } else if (!line->starts_with("unix:")) {
      tcp_address_ = *line;
    }
  }
}

void PrivateDaemon::stop() noexcept {
  if (keeper_ < 0) {
    return;
  }
  life_.reset();
  // The keeper bounds its own end, which comes after farcld's. A killed one is gone at once, and farcld may live a little longer.
  while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
  }
  keeper_ = -1;
  wait_for_end(daemon_handle_.get());
  folder_.remove();
}

} // namespace farcl::tools
