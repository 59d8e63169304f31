// The ring of bytes: round the corner, full, two threads, and an other end that writes nonsense.
#include "lib/net/src/byte_ring.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace farcl::net {
namespace {

struct Ring {
  RingControl control;
  ByteVector bytes = ByteVector(kRingBytes);
  RingWriter writer{control, bytes.data()};
  RingReader reader{control, bytes.data()};

  std::size_t write(ConstBytes part) { return writer.write(std::span(&part, 1)).value(); }
};

std::byte byte_at(std::uint64_t position) { return static_cast<std::byte>((position * 2654435761u) >> 13); }

ByteVector bytes_from(std::uint64_t position, std::size_t size) {
  ByteVector made(size);
  for (std::size_t i = 0; i < size; ++i) {
    made[i] = byte_at(position + i);
  }
  return made;
}

TEST(ByteRing, GathersAndGoesRoundTheCorner) {
  auto ring = std::make_unique<Ring>();
  std::mt19937 random(1);
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  ByteVector into(kRingBytes);
  while (read < 40 * kRingBytes) {
    std::vector<ByteVector> texts;
    std::vector<ConstBytes> parts;
    std::size_t total = 0;
    for (unsigned i = 0; i < 1 + random() % 5; ++i) {
      texts.push_back(bytes_from(written + total, random() % 100'000));
      total += texts.back().size();
    }
    parts.assign(texts.begin(), texts.end());
    const std::size_t room = ring->writer.free_bytes().value();
    const std::size_t taken = ring->writer.write(parts).value();
    ASSERT_EQ(taken, std::min(room, total));
    written += taken;
    ASSERT_EQ(ring->reader.available_bytes().value(), written - read);
    const std::size_t got = ring->reader.read(MutableBytes(into).first(1 + random() % into.size())).value();
    ASSERT_TRUE(std::equal(into.begin(), into.begin() + static_cast<std::ptrdiff_t>(got), bytes_from(read, got).begin())) << read;
    read += got;
  }
}

TEST(ByteRing, TakesNoMoreThanItHolds) {
  auto ring = std::make_unique<Ring>();
  const ByteVector much(kRingBytes + 1);
  EXPECT_EQ(ring->write(much), kRingBytes);
  EXPECT_EQ(ring->write(much), 0u);
  std::byte one{};
  EXPECT_EQ(ring->reader.read(MutableBytes(&one, 1)).value(), 1u);
  EXPECT_EQ(ring->write(much), 1u);
}

TEST(ByteRing, AWriterIsWokenOnceAndOnlyWhenThereIsMuchRoom) {
  auto ring = std::make_unique<Ring>();
  const ByteVector much(kRingBytes);
  ring->write(much);
  ring->writer.set_asleep(true);
  ByteVector into(kRingBytes / 2 - 1);
  (void)ring->reader.read(into);
  EXPECT_FALSE(ring->reader.take_writer_asleep());
  (void)ring->reader.read(MutableBytes(into).first(1));
  EXPECT_TRUE(ring->reader.take_writer_asleep());
  EXPECT_FALSE(ring->reader.take_writer_asleep());
}

TEST(ByteRing, PositionsThatMakeNoSenseAreErrors) {
  const std::uint64_t nonsense[] = {1, kRingBytes, kRingBytes + 1, std::uint64_t{1} << 63};
  for (const std::uint64_t value : nonsense) {
    auto ring = std::make_unique<Ring>();
    const ByteVector some(100);
    const ConstBytes part = some;
    ring->control.read.store(value); // ahead of what was written: the writer must not take it for room
    EXPECT_FALSE(ring->writer.write(std::span(&part, 1)).has_value()) << value;
    EXPECT_FALSE(ring->writer.free_bytes().has_value()) << value;
  }
  for (const std::uint64_t value : {kRingBytes + 101, ~std::uint64_t{0}, std::uint64_t{99}}) {
    auto ring = std::make_unique<Ring>();
    const ByteVector some(100);
    ring->write(some);
    ByteVector into(kRingBytes);
    ASSERT_EQ(ring->reader.read(into).value(), 100u);
    ring->control.written.store(value); // too far ahead, or back behind what was read
    EXPECT_FALSE(ring->reader.read(into).has_value()) << value;
    EXPECT_FALSE(ring->reader.available_bytes().has_value()) << value;
  }
}

TEST(ByteRing, TwoThreadsLoseNothing) {
  auto ring = std::make_unique<Ring>();
  constexpr std::uint64_t kTotal = 64u << 20;
  std::thread writer([&] {
    std::mt19937 random(2);
    for (std::uint64_t written = 0; written < kTotal;) {
      const auto some = bytes_from(written, std::min<std::uint64_t>(kTotal - written, 1 + random() % 150'000));
      const std::size_t taken = ring->write(some);
      written += taken;
      if (taken == 0) {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t read = 0;
  bool same = true;
  ByteVector into(100'000);
  while (read < kTotal && same) {
    const std::size_t got = ring->reader.read(into).value();
    for (std::size_t i = 0; i < got; ++i) {
      same = same && into[i] == byte_at(read + i);
    }
    read += got;
    if (got == 0) {
      std::this_thread::yield();
    }
  }
  EXPECT_TRUE(same) << "near byte " << read;
  writer.join();
}

} // namespace
} // namespace farcl::net
