#include "daemon/supervisor/stdio_session.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace farcl::daemon {

namespace {
inline constexpr std::chrono::seconds kHelloTimeLimit{30}; ///< an ssh client may still ask its user something

bool is_pipe_or_socket(int fd) {
  struct stat about{};
  return ::fstat(fd, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}
} // namespace

StdioSession::~StdioSession() {
  loop_.cancel(timer_);
  if (in_) {
    loop_.forget(in_.get());
  }
}

Status StdioSession::start() {
  if (!is_pipe_or_socket(STDIN_FILENO) || !is_pipe_or_socket(STDOUT_FILENO)) {
    return fail(ErrorCode::kInvalid, "--stdio needs pipes on stdin and stdout; it is what clients start through ssh (ssh://this-host)");
  }
  in_.reset(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  out_.reset(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!in_ || !out_ || !null || ::dup2(null.get(), STDIN_FILENO) < 0 || ::dup2(null.get(), STDOUT_FILENO) < 0) {
    return fail_errno(errno, "cannot take stdin and stdout");
  }
  timer_ = loop_.run_after(kHelloTimeLimit, [this] {
    timer_ = 0;
    finish("no hello came on stdin in time");
  });
  return loop_.watch(in_.get(), [this] { read(); });
}

// Blocking descriptors on purpose: other processes may share them. A readable one gives what it has without waiting.
void StdioSession::read() {
  const ssize_t got = ::read(in_.get(), bytes_.data() + filled_, bytes_.size() - filled_);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
    return;
  }
  if (got <= 0) {
    return finish("stdin ended before the hello");
  }
  filled_ += static_cast<std::size_t>(got);
  if (filled_ < bytes_.size()) {
    return;
  }
  loop_.forget(in_.get());
  loop_.cancel(timer_);
  if (auto status = open_(bytes_, std::move(in_), std::move(out_)); !status) {
    on_failure_(status.error().message);
  }
}

void StdioSession::finish(const std::string& failure) {
  loop_.forget(in_.get());
  loop_.cancel(timer_);
  in_.reset();
  out_.reset();
  on_failure_(failure);
}

} // namespace farcl::daemon
