#include "farcl/base/byte_ranges.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace farcl {
namespace {

TEST(ByteRanges, TakesEachByteOnce) {
  ByteRanges ranges;
  EXPECT_TRUE(ranges.add(100, 10));
  EXPECT_FALSE(ranges.add(100, 10));
  EXPECT_FALSE(ranges.add(109, 5));
  EXPECT_FALSE(ranges.add(95, 6));
  EXPECT_FALSE(ranges.add(90, 100));
  EXPECT_FALSE(ranges.add(103, 2));
  EXPECT_TRUE(ranges.add(110, 5));
  EXPECT_TRUE(ranges.add(95, 5));
  EXPECT_TRUE(ranges.overlaps(114, 1));
  EXPECT_FALSE(ranges.overlaps(115, 1));
  EXPECT_EQ(ranges.bytes(), 20u);
}

TEST(ByteRanges, LikeASetOfBytesInAnyOrder) {
  std::mt19937 random(3);
  ByteRanges ranges;
  std::vector<bool> model(3000);
  for (int i = 0; i < 3000; ++i) {
    const std::size_t offset = random() % 2900;
    const std::size_t size = random() % 30;
    const auto begin = model.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto end = begin + static_cast<std::ptrdiff_t>(size);
    const bool free = std::find(begin, end, true) == end;
    ASSERT_EQ(ranges.overlaps(offset, size), !free);
    ASSERT_EQ(ranges.add(offset, size), free);
    if (free) {
      std::fill(begin, end, true);
    }
    ASSERT_EQ(ranges.bytes(), static_cast<std::uint64_t>(std::count(model.begin(), model.end(), true)));
  }
  EXPECT_GT(ranges.bytes(), 2000u);
}

TEST(ByteRanges, GapsAreBounded) {
  ByteRanges ranges;
  for (std::size_t i = 0; i < ByteRanges::kMaxRanges; ++i) {
    ASSERT_TRUE(ranges.add(i * 2, 1));
  }
  EXPECT_FALSE(ranges.add(ByteRanges::kMaxRanges * 2, 1));
  EXPECT_TRUE(ranges.add(1, 1)); // closes one
  EXPECT_TRUE(ranges.add(ByteRanges::kMaxRanges * 2, 1));
}

} // namespace
} // namespace farcl
