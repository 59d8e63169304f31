// Clients that break the rules: each hurts its own session only, gets a sentence, and nothing grows or crashes.
#include "session_fixture.hpp"

#include <random>

namespace farcl::daemon::test {
namespace {

class HostileTest : public SessionFixture {
protected:
  HostileTest()
      : SessionFixture([](SessionConfig& config) {
          config.parts.limits.commands_in_flight = 100;
          config.parts.limits.objects = 200;
        }) {}

  /// The session has ended, said why, and called it a failure.
  void expect_failure(const std::string& part) {
    EXPECT_TRUE(client->until([&] { return client->failed.has_value(); })) << "no SessionFailed, wanted: " << part;
    if (client->failed) {
      EXPECT_NE(client->failed->sentence.find(part), std::string::npos) << client->failed->sentence;
    }
    EXPECT_TRUE(wait_for_end().failed);
  }
};

TEST_F(HostileTest, UnknownOpcode) {
  ASSERT_TRUE(client->connect());
  client->send_raw(999, {});
  expect_failure("unknown opcode");
}

TEST_F(HostileTest, AServersMessageFromAClient) {
  ASSERT_TRUE(client->connect());
  client->send(p::Finished{{1}, 0});
  expect_failure("unknown opcode");
}

TEST_F(HostileTest, CutAndLongPayloads) {
  ASSERT_TRUE(client->connect());
  client->send_raw(p::CreateContext::kOpcode, pattern(3));
  expect_failure("ends too early");
}

TEST_F(HostileTest, BytesTooMany) {
  ASSERT_TRUE(client->connect());
  client->send_raw(p::Goodbye::kOpcode, pattern(3));
  expect_failure("too many");
}

TEST_F(HostileTest, ReusedIds) {
  set_up_objects();
  client->send(p::CreateBuffer{kBuffer, kContext, 0, 64, {}, {}});
  expect_failure("in use");
}

TEST_F(HostileTest, UnknownQueue) {
  set_up_objects();
  client->send(launch(kEmpty, {{77}, {}, false, {}}));
  expect_failure("unknown queue");
}

TEST_F(HostileTest, UnknownObjectsReleased) {
  set_up_objects();
  client->send(p::ReleaseObject{p::ObjectKind::kBuffer, 12345});
  expect_failure("12345");
}

TEST_F(HostileTest, UnknownEventsReleased) {
  set_up_objects();
  client->send(p::ReleaseEvents{{{4711}}});
  expect_failure("4711");
}

TEST_F(HostileTest, DevicesThatAreNotThere) {
  ASSERT_TRUE(client->connect());
  client->send(p::CreateContext{kContext, {3}});
  expect_failure("device");
}

TEST_F(HostileTest, BulkForAnUnknownTransfer) {
  set_up_objects();
  client->send_bulk({5}, 0, pattern(100));
  expect_failure("not announced");
}

TEST_F(HostileTest, BulkBeyondItsEnd) {
  set_up_objects();
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, 100), {5}, {}});
  client->send_bulk({5}, 0, pattern(101));
  expect_failure("beyond its end");
}

TEST_F(HostileTest, BulkThatComesTwice) {
  set_up_objects();
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, 100), {5}, {}});
  client->send_bulk({5}, 50, pattern(50));
  client->send_bulk({5}, 0, pattern(51));
  expect_failure("came before");
}

TEST_F(HostileTest, BulkAtTheEndOfTheAddressSpace) {
  set_up_objects();
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, 100), {5}, {}});
  client->send_bulk({5}, UINT64_MAX - 10, pattern(50));
  expect_failure("beyond its end");
}

TEST_F(HostileTest, TheSameTransferTwice) {
  set_up_objects();
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, 100), {5}, {}});
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, 100), {5}, {}});
  expect_failure("in use");
}

TEST_F(HostileTest, ATransferThatNeverComesHoldsItsOwnQueueOnly) {
  set_up_objects();
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, 100), {5}, {}});
  EXPECT_EQ(client->finish(kOtherQueue), CL_SUCCESS);
}

TEST_F(HostileTest, DataOfAnotherLength) {
  set_up_objects();
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, 100), {}, pattern(99)});
  expect_failure("not as long");
}

TEST_F(HostileTest, BoxesOutsideTheirBuffers) {
  set_up_objects();
  const auto four = pattern(4);
  const auto status_of_read = [&](p::BufferRect rect) {
    client->send(p::EnqueueRead{{kQueue, {}, false, {}}, kBuffer, rect, {++next_id}});
    return client->until([&] { return client->reads.count(next_id) != 0; }) ? client->reads[next_id].status : -1000;
  };
  EXPECT_EQ(status_of_read(p::BufferRect::linear(kBufferBytes, 1)), CL_INVALID_VALUE);
  EXPECT_EQ(status_of_read(p::BufferRect::linear(UINT64_MAX, 1)), CL_INVALID_VALUE);
  EXPECT_EQ(status_of_read(p::BufferRect::linear(0, 0)), CL_INVALID_VALUE);
  EXPECT_EQ(status_of_read({0, 1, 1ull << 33, 1ull << 33, 1ull << 33, UINT64_MAX}), CL_INVALID_VALUE);
  EXPECT_EQ(status_of_read({0, 16, 4, 1, 8, 64}), CL_INVALID_VALUE);
  client->send(p::EnqueueFill{{kQueue, {900}, true, {}}, kBuffer, kBufferBytes - 4, 8, four});
  EXPECT_EQ(client->status_of({900}), CL_INVALID_VALUE);
  client->send(p::EnqueueFill{{kQueue, {901}, true, {}}, kBuffer, UINT64_MAX - 3, 4, four});
  EXPECT_EQ(client->status_of({901}), CL_INVALID_VALUE);
  client->send(p::EnqueueFill{{kQueue, {902}, true, {}}, kBuffer, 0, 6, pattern(3)});
  EXPECT_EQ(client->status_of({902}), CL_INVALID_VALUE);
  client->send(p::EnqueueFill{{kQueue, {903}, true, {}}, kBuffer, 0, 6, {}});
  EXPECT_EQ(client->status_of({903}), CL_INVALID_VALUE);
  client->send(p::EnqueueCopy{{kQueue, {904}, true, {}}, kBuffer, kBuffer, p::BufferRect::linear(0, 8), p::BufferRect::linear(16, 9)});
  EXPECT_EQ(client->status_of({904}), CL_INVALID_VALUE);
}

TEST_F(HostileTest, SubBuffersOutsideTheirParents) {
  set_up_objects();
  client->send(p::CreateSubBuffer{{60}, kBuffer, 0, UINT64_MAX - 7, 16});
  expect_failure("does not lie within");
}

TEST_F(HostileTest, CommandsBeyondTheLimitFail) {
  set_up_objects();
  client->send(p::CreateUserEvent{{1'000'000}});
  for (std::uint64_t i = 0; i < 98; ++i) {
    client->send(launch(kEmpty, {kQueue, {}, false, {{1'000'000}}}));
  }
  client->send(launch(kEmpty, {kQueue, {2'000'001}, true, {{1'000'000}}})); // the hundredth
  client->send(launch(kEmpty, {kQueue, {2'000'002}, true, {{1'000'000}}}));
  EXPECT_EQ(client->status_of({2'000'002}), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(client->completions.size(), 1u);
  client->send(p::SetUserEventStatus{{1'000'000}, CL_COMPLETE});
  EXPECT_EQ(client->status_of({2'000'001}), CL_COMPLETE);
}

TEST_F(HostileTest, EndlessHeldCommandsEndTheSession) {
  set_up_objects();
  for (std::uint64_t i = 0; i < 300 && client->flush(); ++i) {
    client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, 100), {50'000 + i}, {}});
  }
  expect_failure("far more commands");
}

TEST_F(HostileTest, ObjectsBeyondTheLimitEndTheSession) {
  ASSERT_TRUE(client->connect());
  for (std::uint64_t i = 1; i < 300 && client->flush(); ++i) {
    client->send(p::CreateContext{{i}, {0}});
  }
  expect_failure("objects");
}

TEST_F(HostileTest, StatusesOfEventsThatAreNoUserEvents) {
  set_up_objects();
  client->send(launch(kEmpty, {kQueue, {31}, true, {}}));
  client->send(p::SetUserEventStatus{{31}, CL_COMPLETE});
  expect_failure("not pending");
}

TEST_F(HostileTest, AcknowledgementOfWhatWasNeverSent) {
  ASSERT_TRUE(client->connect());
  // A header of its own: opcode acknowledge, acknowledged = 10^6.
  auto [mine, theirs] = net::make_loopback();
  Attachment attachment;
  attachment.transport = std::move(theirs);
  attachment.received = client->received();
  session->attach(std::move(attachment));
  ByteVector frame(p::kFrameHeaderBytes);
  p::store(p::FrameHeader{0, p::kOpcodeAcknowledge, 0, 0, 1'000'000}, frame.data());
  const ConstBytes bytes(frame);
  ASSERT_TRUE(mine->send(std::span(&bytes, 1)));
  EXPECT_TRUE(wait_for_end().failed);
}

TEST_F(HostileTest, ResumeWithANumberFromTheFuture) {
  ASSERT_TRUE(client->connect());
  auto [mine, theirs] = net::make_loopback();
  Attachment attachment;
  attachment.transport = std::move(theirs);
  attachment.resume = true;
  attachment.received = 1'000'000;
  session->attach(std::move(attachment));
  EXPECT_TRUE(wait_for_end().failed);
  p::HelloReplyBytes bytes{};
  ASSERT_EQ(*mine->receive(bytes), bytes.size());
  EXPECT_EQ(p::decode_hello_reply(bytes)->status, p::HelloStatus::kRefused);
}

TEST_F(HostileTest, AMebibyteOfRandomBytes) {
  ASSERT_TRUE(client->connect());
  auto [mine, theirs] = net::make_loopback();
  Attachment attachment;
  attachment.transport = std::move(theirs);
  attachment.received = client->received();
  session->attach(std::move(attachment));
  std::mt19937 random(5);
  ByteVector noise(1u << 20);
  std::generate(noise.begin(), noise.end(), [&] { return static_cast<std::byte>(random()); });
  const ConstBytes bytes(noise);
  (void)mine->send(std::span(&bytes, 1));
  EXPECT_TRUE(wait_for_end().failed);
}

/// A client that sends and never reads: the session stops reading before its memory grows, and goes on when it reads again.
TEST_F(HostileTest, AClientThatDoesNotRead) {
  set_up_objects();
  auto [mine, theirs] = net::make_loopback({}, {0, 0, 4096, 0ns});
  Attachment attachment;
  attachment.transport = std::move(theirs);
  attachment.received = client->received();
  session->attach(std::move(attachment));
  // Reads of 32 KiB each, of which the session can send only a few KiB.
  net::FrameReceiver unused;
  std::uint64_t sequence = client->sender().last_sequence();
  std::size_t sent = 0;
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (std::chrono::steady_clock::now() < until) {
    ByteVector payload = encode(p::EnqueueRead{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, 32u << 10), {++next_id}});
    ByteVector frame(p::kFrameHeaderBytes);
    p::store(p::FrameHeader{static_cast<std::uint32_t>(payload.size()), p::EnqueueRead::kOpcode, 0, ++sequence, 0}, frame.data());
    frame.insert(frame.end(), payload.begin(), payload.end());
    for (ConstBytes bytes(frame); !bytes.empty();) {
      auto written = mine->send(std::span(&bytes, 1));
      ASSERT_TRUE(written);
      if (*written == 0) {
        if (mine->wait(net::Interest::kWritable, 300ms, nullptr) == net::Interest::kNone) {
          EXPECT_LT(sent, 20'000u); // far below what 1 MiB of read commands would have made without a bound: 640 MiB
          EXPECT_GT(sent, 100u);
          return;
        }
        continue;
      }
      bytes = bytes.subspan(*written);
    }
    ++sent;
    ASSERT_LT(sent, 50'000u) << "the session reads without end";
  }
  FAIL() << "no end in time";
}

} // namespace
} // namespace farcl::daemon::test
