// The one place where this library sleeps: on descriptors and a waker, for a bounded time.
#pragma once

#include "farcl/net/waker.hpp"

#include <chrono>
#include <poll.h>
#include <span>

namespace farcl::net {

using Clock = std::chrono::steady_clock;

/// The time until `deadline`, never negative.
[[nodiscard]] inline std::chrono::nanoseconds time_left(Clock::time_point deadline) {
  return std::max(std::chrono::nanoseconds{0}, std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now()));
}
/// Now plus `timeout`, without overflow for very long ones.
[[nodiscard]] Clock::time_point deadline_after(std::chrono::nanoseconds timeout);

inline constexpr std::size_t kMaxSleepDescriptors = 3;

/// poll() over `descriptors` (at most kMaxSleepDescriptors; their revents are filled in) and the waker (may be null).
/// Returns when one is ready, the waker has been notified or the time is over. The waker's notification is left for the
/// caller to consume. Signals do not end it.
void sleep_on(std::span<pollfd> descriptors, std::chrono::nanoseconds timeout, Waker* waker) noexcept;

} // namespace farcl::net
