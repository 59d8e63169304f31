// Loopback transports for tests: two ends in one process, with faults on demand and everything counted.
#pragma once

#include "farcl/net/transport.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace farcl::net {

/// What happened in one direction: bytes and calls of send by its sender, calls of receive and wait by its receiver.
struct LoopbackCounters {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> sends{0};
  std::atomic<std::uint64_t> receives{0};
  std::atomic<std::uint64_t> waits{0};
  std::atomic<std::uint64_t> last_sequence{0}; ///< of the frames sent whole, if they are followed
};

struct LoopbackFaults {
  std::uint64_t cut_after_bytes = 0;     ///< of one direction, counted from the end's creation; 0: never
  std::size_t max_bytes_per_call = 0;    ///< of send and receive, to exercise partial reads and writes; 0: no limit
  std::size_t capacity_bytes = 1u << 20; ///< in flight per direction; more would block
  std::chrono::nanoseconds delay{0};     ///< one way
  /// What congestion() tells its sender of the way; 0: nothing, as where no network is crossed.
  std::chrono::microseconds claimed_round_trip{0};
  std::shared_ptr<LoopbackCounters> counters; ///< counts here, if set; may be shared by several connections
  bool follow_frames = false;                 ///< what is sent are frames: needed for the following
  std::uint64_t cut_after_sequence = 0;       ///< right behind the frame with that number; 0: never
  std::uint64_t greeting_bytes = 0;           ///< sent before the first frame
};

/// The two ends of a fresh connection; `faults` applies to what the first end sends, `reverse` to what the second one sends.
/// After a cut both ends fail with kDisconnected once they have read what arrived before it.
[[nodiscard]] std::pair<TransportPtr, TransportPtr> make_loopback(const LoopbackFaults& faults = {}, const LoopbackFaults& reverse = {});

} // namespace farcl::net
