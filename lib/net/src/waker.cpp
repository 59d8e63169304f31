#include "farcl/net/waker.hpp"

#include "sleep.hpp"

#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace farcl::net {

// The two flags form Dekker's pattern: the notifier writes `notified_` and then looks at `sleeping_`, the owner writes
// `sleeping_` and then looks at `notified_`. Both with sequential consistency, so at least one of them sees the other.

Waker::Waker() : event_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Waker::~Waker() {
  if (event_fd_ >= 0) {
    ::close(event_fd_);
  }
}

void Waker::notify() noexcept {
  notified_.store(true, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) && event_fd_ >= 0) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(event_fd_, &one, sizeof one); // cannot block; a full counter is readable too
  }
}

bool Waker::consume() noexcept { return notified_.load(std::memory_order_relaxed) && notified_.exchange(false, std::memory_order_acq_rel); }

bool Waker::arm() noexcept {
  sleeping_.store(true, std::memory_order_seq_cst);
  if (notified_.load(std::memory_order_seq_cst)) {
    sleeping_.store(false, std::memory_order_relaxed);
    return false;
  }
  return true;
}

void Waker::disarm() noexcept {
  sleeping_.store(false, std::memory_order_seq_cst);
  // Always, also without a notification: what a notifier wrote after the sleep before would end every sleep from now on. A
  // notification whose write is emptied out here has set `notified_` before, and nobody sleeps without looking at that.
  forget_stale();
}

void Waker::forget_stale() noexcept {
  if (event_fd_ >= 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(event_fd_, &count, sizeof count);
  }
}

bool Waker::wait(std::chrono::nanoseconds timeout) noexcept {
  sleep_on({}, timeout, this);
  return consume();
}

} // namespace farcl::net
