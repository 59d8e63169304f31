#include "driver/session/transfers.hpp"
#include "farcl/net/loopback.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace farcl::driver {
namespace {

ByteVector counting(std::size_t size) {
  ByteVector bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i + 1);
  }
  return bytes;
}

TEST(HostBox, ScattersAndGathersRowsAndSlicesInAnyPieces) {
  ByteVector memory(1000);
  const HostBox box{memory.data() + 5, 3, 4, 2, 10, 60};
  EXPECT_FALSE(box.is_linear());
  const ByteVector bytes = counting(box.size_bytes());
  for (std::size_t at = 0, step = 1; at < bytes.size(); at += step, step = step % 7 + 1) {
    step = std::min(step, bytes.size() - at);
    box.scatter(at, ConstBytes(bytes).subspan(at, step));
  }
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 3; ++x) {
        EXPECT_EQ(memory[5 + z * 60 + y * 10 + x], bytes[(z * 4 + y) * 3 + x]);
      }
    }
  }
  EXPECT_EQ(std::count(memory.begin(), memory.end(), std::byte{0}), 1000 - 24);
  ByteVector back(bytes.size());
  box.gather(back);
  EXPECT_EQ(back, bytes);
}

TEST(HostBox, KnowsWhetherItHasGapsAndWhatItOverlaps) {
  ByteVector memory(100);
  EXPECT_TRUE((HostBox{memory.data(), 4, 5, 2, 4, 20}.is_linear()));
  EXPECT_TRUE((HostBox{memory.data(), 4, 1, 1, 50, 50}.is_linear()));
  EXPECT_FALSE((HostBox{memory.data(), 4, 5, 2, 4, 21}.is_linear()));
  const HostBox box = HostBox::linear(memory.data() + 10, 10);
  EXPECT_TRUE(box.overlaps(HostBox::linear(memory.data() + 19, 1)));
  EXPECT_FALSE(box.overlaps(HostBox::linear(memory.data() + 20, 5)));
  EXPECT_FALSE(box.overlaps(HostBox::linear(memory.data(), 10)));
}

TEST(IncomingRead, TakesChunksInAnyOrderAndNoByteTwice) {
  ByteVector memory(100);
  IncomingRead read(HostBox::linear(memory.data(), 100));
  EXPECT_FALSE(read.destination(0, 101));
  EXPECT_FALSE(read.destination(101, 0));
  EXPECT_FALSE(read.destination(1, std::size_t(-1)));
  auto into = read.destination(40, 60);
  ASSERT_TRUE(into);
  EXPECT_EQ(into->data(), memory.data() + 40);
  EXPECT_TRUE(read.destination(40, 60)); // again, after a cut
  EXPECT_FALSE(read.take(30, counting(11))) << "what is being received on the stream of commands";
  EXPECT_TRUE(read.arrived());
  EXPECT_FALSE(read.destination(99, 1));
  EXPECT_FALSE(read.take(30, counting(11)));
  EXPECT_FALSE(read.complete({}));
  EXPECT_EQ(read.missing_bytes(), 40u);
  ASSERT_TRUE(read.take(10, counting(30)));
  EXPECT_FALSE(read.complete(counting(100))) << "data of its own is for a read without any";
  ASSERT_TRUE(read.take(0, counting(10)));
  EXPECT_EQ(memory[9], std::byte{10});
  EXPECT_EQ(memory[10], std::byte{1});
  EXPECT_TRUE(read.complete({}));
}

TEST(OutgoingBulk, NeverPutsMoreThanItsShareInFront) {
  const std::atomic<std::uint64_t> received{0};
  net::FrameSender sender(received);
  const auto [transport, other] = net::make_loopback();
  net::BulkWindow window;
  OutgoingBulk bulk;
  const ByteVector data(8u << 20);
  bulk.add({1}, data, nullptr, {});
  EXPECT_TRUE(bulk.pump(sender, window, *transport, 64u << 20));
  EXPECT_LE(sender.unsent_bytes(), OutgoingBulk::kUnsentBulkBytes + protocol::kBulkChunkBytes + 4096);
  EXPECT_FALSE(bulk.pump(sender, window, *transport, 64u << 20));
  EXPECT_TRUE(bulk.is_waiting({1}));
}

TEST(OutgoingBulk, WaitsForReadsAndLetsOthersPass) {
  const std::atomic<std::uint64_t> received{0};
  net::FrameSender sender(received);
  const auto [transport, other] = net::make_loopback();
  net::BulkWindow window;
  OutgoingBulk bulk;
  const ByteVector data(100);
  bulk.add({1}, data, nullptr, {{5}, {6}});
  bulk.add({2}, data, nullptr, {});
  EXPECT_TRUE(bulk.pump(sender, window, *transport, 1u << 20));
  EXPECT_TRUE(bulk.is_waiting({1}));
  EXPECT_FALSE(bulk.is_waiting({2}));
  bulk.read_ended({5});
  EXPECT_FALSE(bulk.pump(sender, window, *transport, 1u << 20));
  bulk.read_ended({6});
  EXPECT_TRUE(bulk.pump(sender, window, *transport, 1u << 20));
  EXPECT_TRUE(bulk.empty());
}

TEST(OutgoingBulk, CopiesForFurtherStreams) {
  OutgoingBulk bulk;
  ByteVector data = counting(100);
  bulk.add({1}, data, nullptr, {{5}});
  bulk.add({2}, data, nullptr, {});
  EXPECT_EQ(bulk.bytes(), 200u);
  const net::BulkChunk first = bulk.take_copy(60);
  const net::BulkChunk last = bulk.take_copy(60);
  std::fill(data.begin(), data.end(), std::byte{0});
  EXPECT_EQ(first.header.transfer, protocol::TransferId{2});
  EXPECT_EQ(last.header.offset, 60u);
  ASSERT_EQ(last.bytes.size(), 40u);
  EXPECT_EQ(last.bytes.front(), std::byte{61});
  EXPECT_FALSE(bulk.is_waiting({2}));
  EXPECT_FALSE(bulk.has_ready()); // the other one waits for a read
  EXPECT_EQ(bulk.bytes(), 100u);
}

} // namespace
} // namespace farcl::driver
