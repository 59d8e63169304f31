#include "daemon/supervisor/guess_table.hpp"
#include "daemon/supervisor/nonce_cache.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace farcl::daemon {
namespace {
using namespace std::chrono_literals;

TEST(GuessTableTest, AnswersTakeLongerUpToABound) {
  GuessTable table;
  const auto now = GuessTable::Clock::now();
  auto last = table.failed("a", now);
  EXPECT_EQ(last, GuessTable::kFirstDelay);
  for (int i = 0; i < 100; ++i) {
    const auto next = table.failed("a", now);
    EXPECT_GE(next, last);
    EXPECT_LE(next, GuessTable::kLongestDelay);
    last = next;
  }
  EXPECT_EQ(last, GuessTable::kLongestDelay);
  EXPECT_EQ(table.failed("b", now), GuessTable::kFirstDelay);
}

TEST(GuessTableTest, ABanEnds) {
  GuessTable table;
  const auto now = GuessTable::Clock::now();
  for (unsigned i = 1; i < GuessTable::kFailuresBeforeBan; ++i) {
    table.failed("a", now);
    EXPECT_EQ(table.banned_for("a", now).count(), 0);
  }
  table.failed("a", now);
  EXPECT_EQ(table.banned_for("a", now), GuessTable::kBan);
  EXPECT_EQ(table.banned_for("a", now + GuessTable::kBan).count(), 0);
  EXPECT_EQ(table.banned_for("b", now).count(), 0);
}

TEST(GuessTableTest, ARightKeyAndTimeMakeGood) {
  GuessTable table;
  const auto now = GuessTable::Clock::now();
  table.failed("a", now);
  table.failed("a", now);
  table.succeeded("a");
  table.succeeded("unknown");
  EXPECT_EQ(table.failed("a", now), GuessTable::kFirstDelay);
  EXPECT_EQ(table.failed("a", now + GuessTable::kForgetAfter + 1s), GuessTable::kFirstDelay);
}

TEST(GuessTableTest, IsBoundedAndForgetsTheQuietest) {
  GuessTable table;
  const auto now = GuessTable::Clock::now();
  table.failed("quiet", now);
  table.failed("loud", now);
  for (std::size_t i = 0; i < 2 * GuessTable::kMaxSources; ++i) {
    table.failed("source " + std::to_string(i), now);
    table.failed("loud", now);
    ASSERT_LE(table.size(), GuessTable::kMaxSources);
  }
  EXPECT_EQ(table.failed("quiet", now), GuessTable::kFirstDelay);
  EXPECT_EQ(table.failed("loud", now), GuessTable::kLongestDelay);
}

TEST(NonceCacheTest, KnowsWhatItHasSeenAndIsBounded) {
  NonceCache cache;
  protocol::HelloNonce nonce{};
  for (std::uint32_t i = 0; i <= NonceCache::kMaxNonces; ++i) {
    std::memcpy(nonce.data(), &i, sizeof i);
    ASSERT_TRUE(cache.insert(nonce));
    ASSERT_FALSE(cache.insert(nonce));
  }
  EXPECT_TRUE(cache.insert({})) << "the first one has given way";
}
} // namespace
} // namespace farcl::daemon
