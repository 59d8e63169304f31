// Regions of buffers as they come from the wire: sizes, pitches and sums that overflow.
#include "farcl/protocol/messages/enqueue.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace farcl::protocol {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(BufferRectTest, LinearRanges) {
  EXPECT_EQ(*size_bytes(BufferRect::linear(10, 20)), 20u);
  EXPECT_EQ(*check_within(BufferRect::linear(10, 20), 30), 20u);
  EXPECT_FALSE(check_within(BufferRect::linear(10, 20), 29).has_value());
  EXPECT_FALSE(check_within(BufferRect::linear(kMax, 1), 100).has_value());
  EXPECT_FALSE(check_within(BufferRect::linear(1, kMax), kMax).has_value());
  EXPECT_FALSE(size_bytes(BufferRect::linear(0, 0)).has_value());
}

TEST(BufferRectTest, Boxes) {
  const BufferRect box{100, 4, 3, 2, 10, 50}; // last byte: 100 + 50 + 2 * 10 + 4
  EXPECT_EQ(*size_bytes(box), 24u);
  EXPECT_EQ(*check_within(box, 174), 24u);
  EXPECT_FALSE(check_within(box, 173).has_value());
}

TEST(BufferRectTest, OverlappingRowsAndSlices) {
  EXPECT_FALSE(size_bytes({0, 4, 2, 1, 3, 100}).has_value());
  EXPECT_TRUE(size_bytes({0, 4, 1, 1, 0, 0}).has_value()) << "a single row needs no pitch";
  EXPECT_FALSE(size_bytes({0, 4, 2, 2, 4, 7}).has_value());
  EXPECT_FALSE(size_bytes({0, 100, 1, 3, 0, 0}).has_value()) << "slices of one row each, all in the same place";
  EXPECT_TRUE(size_bytes({0, 4, 2, 2, 4, 8}).has_value());
}

TEST(BufferRectTest, Overflows) {
  EXPECT_FALSE(size_bytes({0, kMax / 2, 3, 1, kMax, 0}).has_value());
  EXPECT_FALSE(size_bytes({0, 2, kMax, 1, 2, 0}).has_value());
  EXPECT_FALSE(check_within({0, 1, kMax / 2, 1, 4, 0}, kMax).has_value());
  EXPECT_FALSE(check_within({0, 1, 1, kMax / 2, 1, 4}, kMax).has_value());
  EXPECT_FALSE(check_within({kMax - 1, 1, 2, 1, 1, 2}, kMax).has_value());
}

} // namespace
} // namespace farcl::protocol
