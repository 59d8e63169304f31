// The limits of this machine at this moment, with which the figures are compared: what a round trip, a transfer and a copy cost
// when nothing stands between the program and the kernel's sockets.
#pragma once

#include <array>
#include <cstddef>

namespace farcl::tools::bench {

inline constexpr std::array<std::size_t, 5> kTransferSizes = {std::size_t{4} << 10, std::size_t{64} << 10, std::size_t{1} << 20,
                                                              std::size_t{16} << 20, std::size_t{256} << 20};

struct Limits {
  double round_trip_us = 0;                               ///< R: TCP ping-pong over loopback, both ends spinning on a core of their own
  std::array<double, kTransferSizes.size()> raw_gbs{};    ///< raw: TCP transfer of each of kTransferSizes, rotating over 256 MiB
  std::array<double, kTransferSizes.size()> memcpy_gbs{}; ///< M: memcpy likewise
  bool two_cores = true;                                  ///< false: both ends had to share one, and the figures mean little
};

/// Takes some seconds (`quick`: about one). Throws std::runtime_error when sockets cannot be had.
[[nodiscard]] Limits measure_limits(bool quick);

} // namespace farcl::tools::bench
