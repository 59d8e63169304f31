#include "farcl/net/bulk_window.hpp"

#include <algorithm>

namespace farcl::net {

namespace {
constexpr std::chrono::microseconds kShortestRound{10000};         ///< shorter ones are all jitter
constexpr int kDelayShare = 4;                                     ///< of a long round trip: there, a few milliseconds are jitter
constexpr std::size_t kCertainBytes = 3 * BulkWindow::kLeastBytes; ///< with so much in flight a queue shows
constexpr double kProbe = 1.25;                                    ///< while no queue is seen, the link may be able to do more
constexpr std::size_t kLeastChunkBytes = 16u << 10;
constexpr std::size_t kFirstChunkBytes = 64u << 10;
constexpr double kChunksPerSecond = 1000;

double seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::chrono::microseconds allowed_delay(const CongestionFacts& facts) { return std::max(kBulkDelay, facts.least_round_trip / kDelayShare); }
bool is_queue_seen(const CongestionFacts& facts) { return facts.round_trip >= facts.least_round_trip + allowed_delay(facts) / 2; }
} // namespace

bool BulkWindow::is_open(const Transport& transport, std::size_t unsent_bytes) {
  const auto now = Clock::now();
  if (now >= next_look_) {
    const auto facts = transport.congestion();
    limited_ = limited_ && facts.has_value();
    next_look_ = now + kBulkLookEvery;
    if (facts) {
      look(*facts, unsent_bytes, now);
    }
  }
  return has_room();
}

bool BulkWindow::has_room() noexcept {
  holding_ = limited_ && committed_bytes_ >= window_bytes_;
  return !holding_;
}

std::size_t BulkWindow::chunk_bytes() const noexcept {
  if (!limited_) {
    return protocol::kBulkChunkBytes;
  }
  const double rate = bytes_per_second();
  if (rate == 0) {
    return kFirstChunkBytes;
  }
  return std::clamp<std::size_t>(static_cast<std::size_t>(rate / kChunksPerSecond), kLeastChunkBytes, protocol::kBulkChunkBytes);
}

double BulkWindow::bytes_per_second() const noexcept { return *std::max_element(rates_.begin(), rates_.end()); }

void BulkWindow::look(const CongestionFacts& facts, std::size_t unsent_bytes, Clock::time_point now) {
  limited_ = true;
  committed_bytes_ = unsent_bytes + facts.waiting_bytes;
  if (round_begin_ == Clock::time_point{} || (!busy_ && facts.waiting_bytes == 0)) { // from standstill
    round_begin_ = now;
    round_delivered_ = last_delivered_ = facts.delivered_bytes;
    busy_ = true;
    return;
  }
  if (growing_) {
    window_bytes_ += holding_ ? facts.delivered_bytes - last_delivered_ : 0;
    // The first round trips of a connection are long because lone packets are acknowledged late.
    growing_ = !is_queue_seen(facts) || window_bytes_ < kCertainBytes;
  }
  last_delivered_ = facts.delivered_bytes;
  if (now - round_begin_ >= std::max(facts.round_trip, kShortestRound)) {
    end_round(facts, now);
  }
}

void BulkWindow::end_round(const CongestionFacts& facts, Clock::time_point now) {
  const double rate = static_cast<double>(facts.delivered_bytes - round_delivered_) / seconds(now - round_begin_);
  // A round in which there was not always something to send counts only when it shows that the link can do more.
  if (busy_ || rate > bytes_per_second()) {
    rates_[rounds_++ % kRounds] = rate;
  }
  if (!growing_) {
    const double window = bytes_per_second() * seconds(facts.least_round_trip + allowed_delay(facts)) * (is_queue_seen(facts) ? 1 : kProbe);
    window_bytes_ = std::max(kLeastBytes, static_cast<std::size_t>(window));
  }
  round_begin_ = now;
  round_delivered_ = facts.delivered_bytes;
  busy_ = true;
}

} // namespace farcl::net
