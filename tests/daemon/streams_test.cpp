// Further connections for bulk, as the session sees them: chunks in any order and before their announcement, cuts, nonsense.
#include "farcl/net/bulk_stream.hpp"
#include "session_fixture.hpp"

#include <algorithm>

namespace farcl::daemon::test {
namespace {

constexpr std::size_t kChunk = 50'000;

/// The client's end of stream 1, with a thread.
class ClientStream final : public net::BulkStream::Owner {
public:
  ClientStream(Session& session, net::LoopbackFaults up = {}, net::LoopbackFaults down = {}, int cuts = 0)
      : session_(session), up_(std::move(up)), down_(std::move(down)), cuts_(cuts), thread_([this] { stream.main(); }) {}
  ~ClientStream() override {
    stream.stop();
    thread_.join();
  }

  Status take_chunk(net::BulkStream& from, const p::BulkHeader& header, ByteVector bytes) override {
    from.chunk_used();
    auto into = received.lock();
    into->resize(std::max<std::size_t>(into->size(), header.offset + bytes.size()));
    std::copy(bytes.begin(), bytes.end(), into->begin() + static_cast<std::ptrdiff_t>(header.offset));
    received_bytes += bytes.size();
    return {};
  }
  void has_room() override {}
  bool expects_data() override { return true; }
  void on_failed(const net::BulkStream&, const std::string& sentence) override { *failure.lock() = sentence; }
  std::optional<Result<net::BulkStream::Attached>> connect(const net::BulkStream& of) override {
    const bool cut = connections++ < cuts_;
    auto [mine, theirs] = net::make_loopback(cut ? up_ : net::LoopbackFaults{}, cut ? down_ : net::LoopbackFaults{});
    Attachment attachment;
    attachment.transport = std::move(theirs);
    attachment.resume = true;
    attachment.received = of.received_sequence().load();
    attachment.stream = 1;
    session_.attach(std::move(attachment));
    p::HelloReplyBytes bytes{};
    for (std::size_t have = 0; have < bytes.size();) {
      auto got = mine->receive(MutableBytes(bytes).subspan(have));
      if (!got) {
        return fail(ErrorCode::kDisconnected, "cut during the hello");
      }
      have += *got;
    }
    return net::BulkStream::Attached{std::move(mine), p::decode_hello_reply(bytes)->received, std::nullopt};
  }

  void send(p::TransferId transfer, std::uint64_t offset, ConstBytes bytes) {
    while (!stream.has_room()) {
      std::this_thread::sleep_for(100us);
    }
    auto copy = std::make_shared<ByteVector>(bytes.begin(), bytes.end());
    stream.send({{transfer, offset}, ConstBytes(*copy), copy});
  }

  std::atomic<int> connections{0};
  std::atomic<std::size_t> received_bytes{0};
  Guarded<ByteVector> received;
  Guarded<std::string> failure;
  net::BulkStream stream{*this, 1, 5s};

private:
  Session& session_;
  net::LoopbackFaults up_;
  net::LoopbackFaults down_;
  int cuts_;
  std::thread thread_;
};

class StreamsTest : public SessionFixture {
protected:
  void announce(p::TransferId transfer, std::uint64_t size) {
    client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, size), transfer, {}});
  }
  /// Asks for a read and gets its bytes from wherever they come: what is left while the stream is cut goes with the commands.
  void expect_read(ClientStream& stream, const ByteVector& expected, bool is_cut = false) {
    stream.received.lock()->clear();
    stream.received_bytes = 0;
    const std::size_t before = client->bulk_bytes;
    const auto inline_or_bulk = client->read(kQueue, kBuffer, 0, expected.size());
    ASSERT_TRUE(inline_or_bulk.has_value());
    EXPECT_EQ(stream.received_bytes + client->bulk_bytes - before, expected.size())
        << "it ended before its bytes were there, or they came twice";
    EXPECT_TRUE(is_cut || inline_or_bulk->empty()) << "bulk on the stream of commands";
    ByteVector got = *stream.received.lock();
    got.resize(expected.size());
    for (std::size_t i = 0; i < inline_or_bulk->size(); ++i) {
      got[i] |= (*inline_or_bulk)[i]; // zero is what has come on the other way
    }
    EXPECT_TRUE(got == expected);
  }
};

TEST_F(StreamsTest, ChunksInAnyOrderAndBeforeTheirMessage) {
  set_up_objects();
  ClientStream stream(*session);
  const auto data = pattern(4 * kChunk, 3);
  const ConstBytes bytes(data);
  stream.send({5}, 3 * kChunk, bytes.subspan(3 * kChunk));
  stream.send({5}, kChunk, bytes.subspan(kChunk, kChunk));
  std::this_thread::sleep_for(50ms); // they are there before anybody knows what they are
  announce({5}, data.size());
  client->send_bulk({5}, 0, bytes.first(kChunk));
  stream.send({5}, 2 * kChunk, bytes.subspan(2 * kChunk, kChunk));
  EXPECT_EQ(client->finish(kQueue), CL_SUCCESS);
  expect_read(stream, data);
}

class StreamsRound : public StreamsTest {
public:
  void TestBody() override {}
  int run(std::uint64_t up, std::uint64_t down) {
    set_up_objects();
    net::LoopbackFaults to_session;
    net::LoopbackFaults from_session;
    to_session.cut_after_bytes = up;
    from_session.cut_after_bytes = down;
    ClientStream stream(*session, to_session, from_session, 3);
    const auto data = pattern(6 * kChunk, static_cast<unsigned>(up + down));
    announce({5}, data.size());
    for (std::size_t at = data.size(); at != 0;) {
      at -= kChunk;
      stream.send({5}, at, ConstBytes(data).subspan(at, kChunk));
    }
    EXPECT_EQ(client->finish(kQueue), CL_SUCCESS);
    expect_read(stream, data, true);
    EXPECT_EQ(*stream.failure.lock(), "");
    return stream.connections;
  }
};

TEST(StreamsCutTest, AtManyPlaces) {
  int cut = 0;
  int runs = 0;
  for (std::uint64_t at = 330; at < 300'000; at += at < 1000 ? 97 : 23'456) {
    for (const bool up : {true, false}) {
      SCOPED_TRACE("cut after " + std::to_string(at) + (up ? " bytes up" : " bytes down"));
      StreamsRound round;
      cut += round.run(up ? at : 0, up ? 0 : at) > 1 ? 1 : 0;
      ++runs;
      if (::testing::Test::HasFailure()) {
        return;
      }
    }
  }
  EXPECT_GT(cut, runs * 3 / 4); // the faults did happen
}

TEST_F(StreamsTest, AByteThatComesOnTwoStreamsEndsTheSession) {
  set_up_objects();
  ClientStream stream(*session);
  const auto data = pattern(2 * kChunk);
  announce({5}, data.size());
  stream.send({5}, 0, ConstBytes(data).first(kChunk));
  stream.send({5}, kChunk - 1, ConstBytes(data).first(10));
  EXPECT_TRUE(client->until([&] { return client->failed.has_value(); }));
  EXPECT_TRUE(wait_for_end().failed);
}

TEST_F(StreamsTest, ChunksThatNobodyAnnouncesStopTheStreamAndNothingElse) {
  set_up_objects();
  ClientStream stream(*session);
  const auto data = pattern(kChunk);
  for (std::uint64_t i = 0; i < 40; ++i) {
    stream.send({1000 + i}, 0, data);
  }
  const std::int32_t value = 5;
  client->send(add(value, {kQueue, {}, false, {}}));
  EXPECT_EQ(client->finish(kQueue), CL_SUCCESS);
  EXPECT_EQ(sum(), 5);
}

} // namespace
} // namespace farcl::daemon::test
