#include "daemon/device/device.hpp"

#include <chrono>

namespace farcl::daemon {

std::uint64_t device_clock_ns() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

} // namespace farcl::daemon
