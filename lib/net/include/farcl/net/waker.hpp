// Waker: ends another thread's sleep in Transport::wait.
#pragma once

#include <atomic>
#include <chrono>

namespace farcl::net {

/// Any thread notifies; the one owner sleeps in Transport::wait (or in Waker::wait). A notification is never lost: one that
/// comes while the owner is awake makes its next wait return at once. Costs a system call only when the owner sleeps.
class Waker {
public:
  Waker();
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  void notify() noexcept;

  /// For owners that spin: true once after a notification.
  [[nodiscard]] bool consume() noexcept;
  [[nodiscard]] bool is_notified() const noexcept { return notified_.load(std::memory_order_acquire); }

  /// Sleeps until notified or until the time is over; true after a notification, which it consumes.
  bool wait(std::chrono::nanoseconds timeout) noexcept;

  // For implementations of Transport::wait: sleep on descriptor() between arm() and disarm(); arm() returns false when a
  // notification is already there and there is nothing to sleep for.
  [[nodiscard]] bool arm() noexcept;
  void disarm() noexcept;
  [[nodiscard]] int descriptor() const noexcept { return event_fd_; }
  // Empties the descriptor after a wake-up that no notification explains: a notifier wrote after its sleep had ended.
  void forget_stale() noexcept;

private:
  std::atomic<bool> notified_{false};
  std::atomic<bool> sleeping_{false};
  int event_fd_ = -1;
};

} // namespace farcl::net
