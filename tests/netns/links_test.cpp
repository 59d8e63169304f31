// What programs get over links that are slow, long or bad. Each test has its own namespaces, server and link.
#include "support/far_server.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace farcl::netns {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

#define START_OR_SKIP(server, ...)                                                                                                         \
  std::string why;                                                                                                                         \
  const auto server = FarServer::start(__VA_ARGS__, why);                                                                                  \
  if (server == nullptr) {                                                                                                                 \
    GTEST_SKIP() << "no emulated link here: " << why;                                                                                      \
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

} // namespace
} // namespace farcl::netns
