// What programs get over links that are slow, long or bad. Each test has its own namespaces, server and link.
#include "support/far_server.hpp"
#include "tests/end_to_end/support/key_file.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>

namespace farcl::netns {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

#define START_OR_SKIP(server, ...)                        \
  std::string why;                                        \
  const auto server = FarServer::start(__VA_ARGS__, why); \
  if (server == nullptr) {                                \
    GTEST_SKIP() << "no emulated link here: " << why;     \
  }

/// The quickest of some runs: the machine may be busy, and only the link's part counts.
double quickest_ms(const FarServer& server, const std::string& mode) {
  double best = 1e9;
  for (int i = 0; i < 4; ++i) {
    const Figures figures = server.run({mode}, seconds(20));
    EXPECT_TRUE(figures.right) << figures.text;
    const auto found = figures.values.find("milliseconds");
    best = found != figures.values.end() ? std::min(best, found->second) : best;
  }
  return best;
}

/// In round trips of `round_trip`, beyond what the program takes without delay.
double round_trips(FarServer& server, const std::string& mode, milliseconds round_trip) {
  server.link().set({});
  const double work = quickest_ms(server, mode);
  server.link().set({.delay = round_trip / 2});
  return (quickest_ms(server, mode) - work) / static_cast<double>(round_trip.count());
}

TEST(Links, AThousandCallsTakeFourRoundTrips) {
  START_OR_SKIP(server, {});
  EXPECT_LE(round_trips(*server, "calls", milliseconds(20)), 4.0);
  EXPECT_LE(round_trips(*server, "calls", milliseconds(100)), 4.0);
}

TEST(Links, TheFirstResultTakesSixRoundTrips) {
  START_OR_SKIP(server, {});
  EXPECT_LE(round_trips(*server, "first-result", milliseconds(20)), 6.0);
  EXPECT_LE(round_trips(*server, "first-result", milliseconds(100)), 6.0);
}

// Small commands beside bulk on a link of 100 Mbit/s with a queue that holds 84 ms of it. Seconds without bulk and with it; the bars of a
// quiet machine (10 ms, 90 % of the link) stand in docs/performance.md, with link_figures; here there is room for a busy one.
class BusyLink : public ::testing::TestWithParam<const char*> {};

TEST_P(BusyLink, HoldsUpNoSmallCommand) {
  START_OR_SKIP(server, {.delay = milliseconds(1), .megabits_per_second = 100});
  const Figures figures = server->run({"busy-link", GetParam(), "4"}, seconds(40));
  ASSERT_TRUE(figures.right) << figures.text;
  EXPECT_LE(figures.values.at("beside_median_ms"), figures.values.at("alone_median_ms") + 12) << figures.text;
  EXPECT_LE(figures.values.at("beside_p90_ms"), figures.values.at("alone_median_ms") + 25) << figures.text;
  EXPECT_GE(figures.values.at("megabits_per_second"), 80) << figures.text;
}
INSTANTIATE_TEST_SUITE_P(Both, BusyLink, ::testing::Values("up", "down"), [](const auto& way) { return std::string(way.param); });

// One connection's windows do not cover 300 Mbit/s at 100 ms: it reaches about two thirds of what several do.
class LongLink : public ::testing::TestWithParam<const char*> {};

TEST_P(LongLink, IsFilledBySeveralStreams) {
  START_OR_SKIP(server, {.delay = milliseconds(50), .megabits_per_second = 300, .queue_bytes = 4u << 20});
  const Figures figures = server->run({"bulk", GetParam(), "96"}, seconds(60));
  ASSERT_TRUE(figures.right) << figures.text;
  EXPECT_GE(figures.values.at("megabits_per_second"), 210) << figures.text;
  EXPECT_NE(server->server_log().find("gets a stream for bulk"), std::string::npos);
}

// The same with a key: each stream is encrypted, and let in by the session's secret.
TEST_P(LongLink, IsFilledBySeveralEncryptedStreams) {
  const end_to_end::KeyFile key;
  std::string why;
  const auto server =
      FarServer::start({.delay = milliseconds(50), .megabits_per_second = 300, .queue_bytes = 4u << 20}, why, {"--keys", key.path()});
  if (server == nullptr) {
    GTEST_SKIP() << "no emulated link here: " << why;
  }
  const Figures figures = server->run({"bulk", GetParam(), "48"}, seconds(60), {{"FARCL_KEY_FILE", key.path()}});
  ASSERT_TRUE(figures.right) << figures.text;
  EXPECT_GE(figures.values.at("megabits_per_second"), 160) << figures.text; // two slow cores encrypt and decrypt beside all else
  EXPECT_NE(server->server_log().find("gets a stream for bulk"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Both, LongLink, ::testing::Values("up", "down"), [](const auto& way) { return std::string(way.param); });

TEST(Links, AShortLinkGetsNoFurtherStreams) {
  START_OR_SKIP(server, {.delay = milliseconds(1), .megabits_per_second = 300});
  const Figures figures = server->run({"bulk", "up", "32"}, seconds(30));
  ASSERT_TRUE(figures.right) << figures.text;
  EXPECT_EQ(server->server_log().find("gets a stream for bulk"), std::string::npos);
}

TEST(Links, LossCorruptsNothing) {
  START_OR_SKIP(server, {.delay = milliseconds(5), .loss = 0.01});
  const Figures figures = server->run({"exchange", "4"}, seconds(60));
  EXPECT_TRUE(figures.right) << figures.text;
  EXPECT_GE(figures.values.at("rounds"), 3) << figures.text;
  EXPECT_GT(server->link().lost_packets(), 10u);
}

// Beyond that the session ends, which is another test.
TEST(Links, AnOutageOfTwoSecondsIsBorne) {
  START_OR_SKIP(server, {.delay = milliseconds(20), .megabits_per_second = 300});
  std::thread outage([&] {
    std::this_thread::sleep_for(milliseconds(1500));
    server->link().set({.down = true});
    std::this_thread::sleep_for(seconds(2));
    server->link().set({.delay = milliseconds(20), .megabits_per_second = 300});
  });
  const Figures figures = server->run({"exchange", "5"}, seconds(60));
  outage.join();
  EXPECT_TRUE(figures.right) << figures.text;
}

} // namespace
} // namespace farcl::netns
