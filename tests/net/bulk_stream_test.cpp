// Two ends of a BulkStream over loopback connections that are cut at every place.
#include "farcl/base/guarded.hpp"
#include "farcl/net/bulk_stream.hpp"
#include "farcl/net/loopback.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

namespace farcl::net {
namespace {

using namespace std::chrono_literals;

bool eventually(const std::function<bool()>& done) {
  for (const auto end = std::chrono::steady_clock::now() + 10s; !done(); std::this_thread::sleep_for(200us)) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
  }
  return true;
}

/// One end: what it has received, and a thread for its stream.
class End : public BulkStream::Owner {
public:
  explicit End(std::chrono::milliseconds patience = 5s) : stream(*this, 1, patience) {}
  ~End() override { stop(); }
  void start() {
    thread_ = std::thread([this] { stream.main(); });
  }
  void stop() {
    stream.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  Status take_chunk(BulkStream& from, const protocol::BulkHeader& header, ByteVector bytes) override {
    received.lock()->emplace_back(header, std::move(bytes));
    if (!keeps_chunks) {
      from.chunk_used();
    }
    return {};
  }
  void has_room() override {}
  bool expects_data() override { return false; }
  std::optional<Result<BulkStream::Attached>> connect(const BulkStream&) override { return connector ? connector() : std::nullopt; }
  void on_failed(const BulkStream&, const std::string& sentence) override { *failure.lock() = sentence; }

  /// Sends when there is room.
  void send(std::uint64_t offset, std::size_t size) {
    ASSERT_TRUE(eventually([&] { return stream.has_room(); }));
    auto bytes = std::make_shared<ByteVector>(size);
    for (std::size_t i = 0; i < size; ++i) {
      (*bytes)[i] = static_cast<std::byte>((offset + i) * 7);
    }
    memory.push_back(bytes);
    stream.send({{{5}, offset}, ConstBytes(*bytes), bytes});
  }
  [[nodiscard]] std::size_t count() { return received.lock()->size(); }
  [[nodiscard]] bool all_acknowledged() const {
    return std::all_of(memory.begin(), memory.end(), [](const auto& one) { return one.expired(); });
  }

  std::function<std::optional<Result<BulkStream::Attached>>()> connector;
  Guarded<std::vector<std::pair<protocol::BulkHeader, ByteVector>>> received;
  Guarded<std::string> failure;
  std::vector<std::weak_ptr<ByteVector>> memory;
  std::atomic<bool> keeps_chunks{false};
  BulkStream stream;

private:
  std::thread thread_;
};

/// A client and a server whose connections break after so many bytes, as long as `cuts` lasts.
class Pair {
public:
  Pair(std::uint64_t cut_up, std::uint64_t cut_down, unsigned cuts) {
    client.connector = [=, this]() -> std::optional<Result<BulkStream::Attached>> {
      const bool cut = connections++ < cuts;
      LoopbackFaults up;
      LoopbackFaults down;
      up.cut_after_bytes = cut ? cut_up : 0;
      down.cut_after_bytes = cut ? cut_down : 0;
      auto [ours, theirs] = make_loopback(up, down);
      // In the real protocol the numbers travel in the hellos, which the ends exchange before frames.
      const std::uint64_t client_has = client.stream.received_sequence().load();
      protocol::HelloReply reply;
      server.stream.attach({std::move(theirs), client_has, reply});
      protocol::HelloReplyBytes bytes;
      for (std::size_t have = 0; have < bytes.size();) {
        auto got = ours->receive(MutableBytes(bytes).subspan(have));
        if (!got) {
          return fail(ErrorCode::kDisconnected, "cut during the hello");
        }
        have += *got;
      }
      return BulkStream::Attached{std::move(ours), protocol::decode_hello_reply(bytes)->received, std::nullopt};
    };
    server.start();
    client.start();
  }
  ~Pair() {
    client.stop();
    server.stop();
  }

  End client;
  End server;
  std::atomic<unsigned> connections{0};
};

void expect_all(End& end, std::size_t chunks, std::size_t size) {
  ASSERT_TRUE(eventually([&] { return end.count() >= chunks; }));
  auto received = end.received.lock();
  ASSERT_EQ(received->size(), chunks);
  for (std::size_t i = 0; i < chunks; ++i) {
    const auto& [header, bytes] = (*received)[i];
    ASSERT_EQ(header.offset, i * size);
    ASSERT_EQ(bytes.size(), size);
    ASSERT_EQ(bytes[size - 1], static_cast<std::byte>((i * size + size - 1) * 7));
  }
}

void exchange(Pair& pair, std::size_t chunks, std::size_t size) {
  for (std::size_t i = 0; i < chunks; ++i) {
    pair.client.send(i * size, size);
    pair.server.send(i * size, size);
  }
  expect_all(pair.server, chunks, size);
  expect_all(pair.client, chunks, size);
  EXPECT_TRUE(eventually([&] { return pair.client.all_acknowledged() && pair.server.all_acknowledged(); }));
}

TEST(BulkStream, MovesChunksBothWaysAndLetsGoOfThem) {
  Pair pair(0, 0, 0);
  exchange(pair, 40, 100000);
  EXPECT_EQ(pair.connections, 1u);
}

TEST(BulkStream, CutAnywhereNothingIsLostOrComesTwice) {
  for (std::uint64_t at = protocol::kHelloReplyBytes + 10; at < 5000; at += 61) {
    Pair up(at, 0, 2);
    exchange(up, 5, 1000);
    Pair down(0, at, 2);
    exchange(down, 5, 1000);
    ASSERT_FALSE(HasFailure()) << "cut after " << at << " bytes";
    ASSERT_GE(up.connections + down.connections, 3u);
  }
}

TEST(BulkStream, DoesNotReadWhileItsChunksAreNotUsed) {
  Pair pair(0, 0, 0);
  pair.server.keeps_chunks = true;
  constexpr std::size_t kSize = 200000;
  for (std::size_t i = 0; i < 24; ++i) { // more than is kept, less than what stops the sender
    pair.client.send(i * kSize, kSize);
  }
  ASSERT_TRUE(eventually([&] { return pair.server.count() >= 16; }));
  std::this_thread::sleep_for(50ms);
  const std::size_t kept = pair.server.count();
  EXPECT_LT(kept, 20u);
  pair.server.keeps_chunks = false;
  for (std::size_t i = 0; i < kept; ++i) {
    pair.server.stream.chunk_used();
  }
  expect_all(pair.server, 24, kSize);
}

TEST(BulkStream, GivesUpWhenNobodyAnswersForTooLong) {
  End alone(150ms);
  alone.connector = []() -> std::optional<Result<BulkStream::Attached>> { return fail(ErrorCode::kTimeout, "nobody answers"); };
  alone.start();
  EXPECT_TRUE(eventually([&] { return !alone.failure.lock()->empty(); }));
  EXPECT_FALSE(alone.stream.has_lived());
}

TEST(BulkStream, AMessageOrAHugeChunkIsNonsense) {
  for (const bool message : {true, false}) {
    End end;
    end.start();
    auto [ours, theirs] = make_loopback();
    end.stream.attach({std::move(theirs), 0, std::nullopt});
    protocol::FrameHeader header;
    header.opcode = message ? protocol::kFirstMessageOpcode : protocol::kOpcodeBulk;
    header.payload_bytes = message ? 8 : static_cast<std::uint32_t>(protocol::kBulkChunkBytes + protocol::kBulkHeaderBytes + 1);
    header.sequence = 1;
    ByteVector bytes(protocol::kFrameHeaderBytes + 100);
    protocol::store(header, bytes.data());
    const ConstBytes part(bytes);
    ASSERT_TRUE(ours->send(std::span(&part, 1)));
    EXPECT_TRUE(eventually([&] { return end.failure.lock()->find("makes no sense") != std::string::npos; }));
  }
}

} // namespace
} // namespace farcl::net
