// Transport over two pipes: the daemon's standard input and output when ssh started it.
#include "farcl/base/unique_fd.hpp"
#include "farcl/net/accept.hpp"
#include "sleep.hpp"
#include "socket_transport.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/uio.h>

namespace farcl::net {

namespace {

/// Keeps SIGPIPE away while it lives: blocks it and takes a pending one that a write inside raised. Pipes know no
/// MSG_NOSIGNAL, and the process's handlers are not ours to change.
class NoPipeSignal {
public:
  NoPipeSignal() {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    if (raised_ && !was_pending_) {
      const timespec now{};
      while (::sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  void raised() noexcept { raised_ = true; }

private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
  bool raised_ = false;
};

void prepare(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

class PipeTransport final : public Transport {
public:
  PipeTransport(UniqueFd read_end, UniqueFd write_end) : read_end_(std::move(read_end)), write_end_(std::move(write_end)) {
    prepare(read_end_.get());
    prepare(write_end_.get());
  }

  Result<std::size_t> send(std::span<const ConstBytes> parts) override {
    if (stopped_.load(std::memory_order_acquire)) {
      return stopped();
    }
    std::array<iovec, kMaxSendParts> vectors;
    const std::size_t count = std::min(parts.size(), kMaxSendParts);
    std::transform(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count), vectors.begin(),
                   [](ConstBytes part) { return iovec{const_cast<std::byte*>(part.data()), part.size()}; });
    NoPipeSignal guard;
    for (;;) {
      const ssize_t sent = ::writev(write_end_.get(), vectors.data(), static_cast<int>(count));
      if (sent >= 0) {
        return static_cast<std::size_t>(sent);
      }
      if (errno == EAGAIN) {
        return 0;
      }
      if (errno != EINTR) {
        const int error = errno;
        if (error == EPIPE) {
          guard.raised();
        }
        return connection_error(error, description());
      }
    }
  }

  Result<std::size_t> receive(MutableBytes into) override {
    for (;;) {
      if (stopped_.load(std::memory_order_acquire)) {
        return stopped();
      }
      const ssize_t received = ::read(read_end_.get(), into.data(), into.size());
      if (received > 0) {
        return static_cast<std::size_t>(received);
      }
      if (received == 0) {
        return fail(ErrorCode::kClosed, "the other end closed its pipe");
      }
      if (errno == EAGAIN && !half_broken_) {
        return 0;
      }
      if (errno != EINTR) {
        return connection_error(errno == EAGAIN ? EPIPE : errno, description());
      }
    }
  }

  Interest wait(Interest interest, std::chrono::nanoseconds timeout, Waker* waker) override {
    // The third descriptor ends the sleep when another thread calls shutdown.
    std::array<pollfd, 3> all{pollfd{has(interest, Interest::kReadable) ? read_end_.get() : -1, POLLIN, 0},
                              pollfd{write_end_.get(), static_cast<short>(has(interest, Interest::kWritable) ? POLLOUT : 0), 0},
                              pollfd{stop_.descriptor(), POLLIN, 0}};
    if (stop_.arm()) {
      sleep_on(all, timeout, waker);
      stop_.disarm();
    }
    if (waker != nullptr) {
      (void)waker->consume();
    }
    if (stopped_.load(std::memory_order_acquire)) {
      return Interest::kReadable;
    }
    half_broken_ = (all[1].revents & POLLERR) != 0; // nobody reads what we write: the next receive says so
    return to_interest(all[0].revents, all[1].revents);
  }

  void shutdown() noexcept override {
    stopped_.store(true, std::memory_order_release);
    // Other threads may be using the descriptors: they are replaced, not closed. The peer sees the end of the stream.
    const UniqueFd nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (nowhere) {
      ::dup3(nowhere.get(), write_end_.get(), O_CLOEXEC);
      ::dup3(nowhere.get(), read_end_.get(), O_CLOEXEC);
    }
    stop_.notify();
  }

  [[nodiscard]] std::string description() const override { return "stdio"; }

private:
  static tl::unexpected<Error> stopped() { return fail(ErrorCode::kDisconnected, "the pipes have been closed"); }

  UniqueFd read_end_;
  UniqueFd write_end_;
  std::atomic<bool> half_broken_{false};
  std::atomic<bool> stopped_{false};
  Waker stop_; // notified once and never consumed: every later wait returns at once
};

} // namespace

TransportPtr adopt_pipes(UniqueFd read_end, UniqueFd write_end) {
  return std::make_unique<PipeTransport>(std::move(read_end), std::move(write_end));
}

} // namespace farcl::net
