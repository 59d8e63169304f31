// BulkWindow against a model of a link: a rate, a round trip, a queue. Facts are made up; no clock is real.
#include "farcl/net/bulk_window.hpp"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>

namespace farcl::net {
namespace {

using namespace std::chrono_literals;
using Clock = BulkWindow::Clock;

/// What is given to it waits for the rate; the round trip grows by what waits.
struct Link {
  double bytes_per_second;
  std::chrono::microseconds round_trip;
  double jitter_ms = 0; ///< on top, every other look

  double given = 0;
  double served = 0; ///< has left the queue
  std::deque<std::pair<Clock::time_point, double>> acknowledgements{};
  double delivered = 0;
  unsigned looks = 0;

  void pass(Clock::time_point now, std::chrono::microseconds time) {
    const double step = std::min(given - served, bytes_per_second * std::chrono::duration<double>(time).count());
    served += step;
    acknowledgements.emplace_back(now + round_trip, served);
    while (!acknowledgements.empty() && acknowledgements.front().first <= now) {
      delivered = acknowledgements.front().second;
      acknowledgements.pop_front();
    }
  }
  [[nodiscard]] double queue_ms() const { return (given - served) / bytes_per_second * 1000; }
  CongestionFacts facts() {
    const double jitter = ++looks % 2 == 0 ? jitter_ms : 0;
    CongestionFacts facts;
    facts.least_round_trip = round_trip;
    facts.round_trip = round_trip + std::chrono::microseconds(static_cast<std::int64_t>((queue_ms() + jitter) * 1000));
    facts.delivered_bytes = static_cast<std::uint64_t>(delivered);
    facts.waiting_bytes = static_cast<std::uint64_t>(given - delivered);
    return facts;
  }
};

class LinkTransport final : public Transport {
public:
  Result<std::size_t> send(std::span<const ConstBytes>) override { return 0; }
  Result<std::size_t> receive(MutableBytes) override { return 0; }
  Interest wait(Interest, std::chrono::nanoseconds, Waker*) override { return Interest::kNone; }
  void shutdown() noexcept override {}
  [[nodiscard]] std::string description() const override { return "made up"; }
};

struct Outcome {
  double used = 0;           ///< part of the link's rate
  double worst_queue_ms = 0; ///< after the beginning
};

/// Bulk without end for so long; what counts is the second half.
Outcome run(Link& link, BulkWindow& window, Clock::time_point& now, std::chrono::milliseconds time) {
  constexpr auto kStep = 500us;
  const auto half = now + time / 2;
  const auto end = now + time;
  double served_at_half = 0;
  Outcome outcome;
  for (; now < end; now += kStep) {
    link.pass(now, kStep);
    window.look(link.facts(), 0, now);
    while (window.has_room()) {
      window.appended(window.chunk_bytes());
      link.given += static_cast<double>(window.chunk_bytes());
    }
    if (now < half) {
      served_at_half = link.served;
    } else {
      outcome.worst_queue_ms = std::max(outcome.worst_queue_ms, link.queue_ms());
    }
  }
  outcome.used = (link.served - served_at_half) / link.bytes_per_second / std::chrono::duration<double>(time / 2).count();
  return outcome;
}

struct Case {
  double megabits;
  std::chrono::microseconds round_trip;
};

TEST(BulkWindow, FillsLinksOfAllKindsAndNotTheirQueues) {
  for (const Case& one :
       {Case{10, 20ms}, {100, 500us}, {100, 5ms}, {100, 100ms}, {300, 100ms}, {1000, 1ms}, {1000, 50ms}, {10000, 200us}}) {
    Link link{one.megabits * 125000, one.round_trip};
    BulkWindow window;
    Clock::time_point now{1h};
    const Outcome outcome = run(link, window, now, 6s);
    EXPECT_GT(outcome.used, 0.95) << one.megabits << " Mbit/s, " << one.round_trip.count() << " us";
    // On slow links the least window and one chunk are what counts.
    const double least_ms = static_cast<double>(BulkWindow::kLeastBytes + (16u << 10)) / (one.megabits * 125);
    const double allowed_ms = std::max(8.0, static_cast<double>(one.round_trip.count()) / 1000 / 3);
    EXPECT_LT(outcome.worst_queue_ms, std::max(allowed_ms, least_ms)) << one.megabits << " Mbit/s, " << one.round_trip.count() << " us";
  }
}

TEST(BulkWindow, FollowsALinkThatBecomesSlowerAndFasterAgain) {
  Link link{100 * 125000, 2ms};
  BulkWindow window;
  Clock::time_point now{1h};
  run(link, window, now, 2s);
  link.bytes_per_second /= 4;
  Outcome outcome = run(link, window, now, 2s);
  EXPECT_GT(outcome.used, 0.95);
  EXPECT_LT(outcome.worst_queue_ms, 25); // 64 KiB at 25 Mbit/s
  link.bytes_per_second *= 8;
  outcome = run(link, window, now, 2s);
  EXPECT_GT(outcome.used, 0.95);
  EXPECT_LT(outcome.worst_queue_ms, 8);
}

TEST(BulkWindow, APauseLeavesTheRateAsItWas) {
  Link link{100 * 125000, 10ms};
  BulkWindow window;
  Clock::time_point now{1h};
  run(link, window, now, 2s);
  const double rate = window.bytes_per_second();
  for (int i = 0; i < 1000; ++i, now += 1ms) { // small messages only
    window.ran_dry();
    link.given += 1000;
    link.pass(now, 1ms);
    window.look(link.facts(), 0, now);
  }
  EXPECT_GT(window.bytes_per_second(), 0.9 * rate);
  EXPECT_GT(window.window_bytes(), 10 * 12500u);
}

TEST(BulkWindow, JitterCostsLittle) {
  Link link{1000 * 125000, 1ms, 2};
  BulkWindow window;
  Clock::time_point now{1h};
  EXPECT_GT(run(link, window, now, 4s).used, 0.8);
}

TEST(BulkWindow, JitterOfALongLinkCostsLittle) {
  Link link{300 * 125000, 100ms, 25}; // 12 ms on the average
  BulkWindow window;
  Clock::time_point now{1h};
  EXPECT_GT(run(link, window, now, 6s).used, 0.9);
}

TEST(BulkWindow, ATransportWithoutFactsIsNeverHeldBack) {
  const LinkTransport transport;
  BulkWindow window;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(window.is_open(transport, 1u << 20));
    ASSERT_EQ(window.chunk_bytes(), protocol::kBulkChunkBytes);
    window.appended(window.chunk_bytes());
  }
  EXPECT_FALSE(window.is_holding());
}

} // namespace
} // namespace farcl::net
