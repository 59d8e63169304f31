// BulkWindow: how much bulk may be on its way, so that a small message behind it is late by a few milliseconds and no more.
//
// Whatever has been given to a connection and has not arrived stands in front of the next message. So bulk in flight is held to
// what the link delivers within its least round trip and a delay (kBulkDelay, or a quarter of a long round trip): enough to keep
// it busy, not enough to fill the queues on the way. What the link does is what the transport's congestion facts say; a transport without
// any (loopback, Unix sockets, pipes) is never held back.
//
// Used by the thread that uses the link's sender.
#pragma once

#include "farcl/net/transport.hpp"
#include "farcl/protocol/limits.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace farcl::net {

/// How late a small message may come because of bulk in front of it, on a link with a short round trip.
inline constexpr std::chrono::microseconds kBulkDelay{4000};
/// Who has bulk that was held back looks again after this.
inline constexpr std::chrono::microseconds kBulkLookEvery{1000};

class BulkWindow {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kLeastBytes = 64u << 10; ///< before anything is known, and on links however slow

  /// True when a chunk of chunk_bytes() may be appended now to a sender with so many unsent bytes. Asks the transport at most
  /// every kBulkLookEvery.
  [[nodiscard]] bool is_open(const Transport& transport, std::size_t unsent_bytes);
  void appended(std::size_t bytes) noexcept { committed_bytes_ += bytes; }
  /// There is no bulk left to append: what was measured meanwhile says little.
  void ran_dry() noexcept { busy_ = false; }
  /// What may be appended until is_open says no.
  [[nodiscard]] std::size_t room_bytes() const noexcept {
    return !limited_ ? SIZE_MAX : window_bytes_ - std::min(window_bytes_, committed_bytes_);
  }
  /// As much as the link moves in about a millisecond, at most protocol::kBulkChunkBytes.
  [[nodiscard]] std::size_t chunk_bytes() const noexcept;
  /// True when the last answer of is_open was no.
  [[nodiscard]] bool is_holding() const noexcept { return holding_; }
  /// The link's rate as measured; 0: not known.
  [[nodiscard]] double bytes_per_second() const noexcept;
  /// A new connection: nothing is known.
  void reset() noexcept { *this = BulkWindow(); }

  // The two steps of is_open, for tests with made-up facts.
  void look(const CongestionFacts& facts, std::size_t unsent_bytes, Clock::time_point now);
  [[nodiscard]] bool has_room() noexcept;
  [[nodiscard]] std::size_t window_bytes() const noexcept { return window_bytes_; }

private:
  static constexpr std::size_t kRounds = 8; ///< the best of the last rounds is the link's rate

  void end_round(const CongestionFacts& facts, Clock::time_point now);

  bool limited_ = false; ///< the transport has facts
  bool holding_ = false;
  bool growing_ = true; ///< no queue has been seen yet: doubles with each round trip
  bool busy_ = false;   ///< there has been bulk to send in all of this round
  std::size_t window_bytes_ = kLeastBytes;
  std::size_t committed_bytes_ = 0; ///< on its way at the last look, and appended since
  Clock::time_point next_look_{};
  Clock::time_point round_begin_{};
  std::uint64_t round_delivered_ = 0; ///< the facts' count when the round began
  std::uint64_t last_delivered_ = 0;
  std::array<double, kRounds> rates_{}; ///< bytes per second
  std::size_t rounds_ = 0;
};

} // namespace farcl::net
