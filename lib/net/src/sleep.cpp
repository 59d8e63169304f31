#include "sleep.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

namespace farcl::net {

namespace {
constexpr std::chrono::nanoseconds kLongestSleep = std::chrono::hours(24 * 365);
// A waker whose eventfd could not be made (no descriptors left) is looked at this often instead.
constexpr std::chrono::nanoseconds kBlindSlice = std::chrono::milliseconds(1);

timespec to_timespec(std::chrono::nanoseconds time) {
  timespec out{};
  out.tv_sec = static_cast<time_t>(time.count() / 1'000'000'000);
  out.tv_nsec = static_cast<long>(time.count() % 1'000'000'000);
  return out;
}

/// One poll; as ppoll, but a failure leaves nothing ready.
int poll_once(pollfd* descriptors, std::size_t count, std::chrono::nanoseconds timeout) noexcept {
  const timespec time = to_timespec(timeout);
  const int ready = ::ppoll(descriptors, static_cast<nfds_t>(count), &time, nullptr);
  if (ready < 0) {
    std::for_each_n(descriptors, count, [](pollfd& one) { one.revents = 0; });
  }
  return ready;
}
} // namespace

Clock::time_point deadline_after(std::chrono::nanoseconds timeout) {
  return Clock::now() + std::clamp(timeout, std::chrono::nanoseconds{0}, kLongestSleep);
}

void sleep_on(std::span<pollfd> descriptors, std::chrono::nanoseconds timeout, Waker* waker) noexcept {
  std::array<pollfd, kMaxSleepDescriptors + 1> all{};
  const std::size_t own = std::min(descriptors.size(), kMaxSleepDescriptors);
  std::copy_n(descriptors.begin(), own, all.begin());
  std::size_t count = own;
  if (waker != nullptr && waker->descriptor() >= 0) {
    all[count++] = pollfd{waker->descriptor(), POLLIN, 0};
  }
  const bool armed = waker != nullptr && timeout.count() > 0 && waker->arm();
  if (waker != nullptr && !armed) {
    timeout = std::chrono::nanoseconds{0};
  }
  const auto deadline = deadline_after(timeout);
  for (auto left = std::clamp(timeout, std::chrono::nanoseconds{0}, kLongestSleep);; left = time_left(deadline)) {
    const bool blind = armed && waker->descriptor() < 0;
    const int ready = poll_once(all.data(), count, blind ? std::min(left, kBlindSlice) : left);
    const bool interrupted = ready < 0 && errno == EINTR;
    const bool own_ready = std::any_of(all.data(), all.data() + own, [](const pollfd& one) { return one.revents != 0; });
    if (own_ready || (armed && waker->is_notified()) || left.count() == 0 || (ready < 0 && !interrupted)) {
      break;
    }
    if (ready > 0) { // only the waker's descriptor, and no notification: left over from the sleep before
      waker->forget_stale();
      if (waker->is_notified()) { // its write may have been emptied out with the stale one
        break;
      }
    }
  }
  if (armed) {
    waker->disarm();
  }
  std::copy_n(all.begin(), own, descriptors.begin());
}

} // namespace farcl::net
