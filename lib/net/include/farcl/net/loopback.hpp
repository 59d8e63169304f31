// Loopback transports for tests: two ends in one process, with faults on demand and everything counted.
#pragma once

#include "farcl/net/transport.hpp"

#include <cstdint>
#include <functional>
#include <utility>

namespace farcl::net {

struct LoopbackFaults {
  std::uint64_t cut_after_bytes = 0;      ///< of one direction, counted from the end's creation; 0: never
  std::size_t max_bytes_per_call = 0;     ///< of send and receive, to exercise partial reads and writes; 0: no limit
  std::size_t capacity_bytes = 1u << 20;  ///< in flight per direction; more would block
  std::chrono::nanoseconds delay{0};      ///< one way
};

/// The two ends of a fresh connection; `faults` applies to what the first end sends, `reverse` to what the second one sends.
/// After a cut both ends fail with kDisconnected once they have read what arrived before it.
[[nodiscard]] std::pair<TransportPtr, TransportPtr> make_loopback(const LoopbackFaults& faults = {}, const LoopbackFaults& reverse = {});

} // namespace farcl::net
