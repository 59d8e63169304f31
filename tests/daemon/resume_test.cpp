// Nothing is lost on a cut: a small program whose first connection is cut at every few bytes, in either direction.
#include "session_fixture.hpp"

namespace farcl::daemon::test {
namespace {

class ResumeTest : public SessionFixture {
protected:
  /// Uploads, computes, copies and reads back, small and bulk; checks every result, and that each kernel ran once.
  void run_program() {
    client->send(p::CreateContext{kContext, {0}});
    client->send(p::CreateQueue{kQueue, kContext, 0, false, false});
    client->send(p::CreateQueue{kOtherQueue, kContext, 0, true, true});
    client->send(p::CreateBuffer{kBuffer, kContext, 0, kBufferBytes, {}, {}});
    build("a program");
    ASSERT_TRUE(client->until([&] { return !client->builds.empty(); }));
    const auto large = pattern(40'000, 3);
    client->send(p::CreateBuffer{{50}, kContext, 0, large.size(), {9}, {}});
    client->send_bulk({9}, 0, large);
    client->send(p::CreateUserEvent{{70}});
    const std::int32_t values[] = {1, 20, 300, 4000};
    for (const std::int32_t& value : values) {
      client->send(add(value, {kQueue, {}, false, {}}));
    }
    client->send(add(values[3], {kOtherQueue, {71}, true, {{70}}}));
    client->send(p::SetUserEventStatus{{70}, CL_COMPLETE});
    ASSERT_EQ(client->status_of({71}), CL_COMPLETE);
    const auto other = pattern(36'000, 4);
    client->send(p::EnqueueWrite{{kQueue, {72}, false, {}}, kBuffer, p::BufferRect::linear(4096, other.size()), {10}, {}});
    client->send_bulk({10}, 0, other);
    client->send(
        p::EnqueueCopy{{kQueue, {}, false, {{72}}}, kBuffer, {50}, p::BufferRect::linear(4096, 1000), p::BufferRect::linear(0, 1000)});
    ASSERT_EQ(client->finish(kQueue), CL_SUCCESS);
    EXPECT_EQ(sum(), 8321);
    const auto first = client->read(kQueue, kBuffer, 4096, other.size());
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(*first, other);
    const auto second = client->read(kQueue, {50}, 0, large.size());
    ASSERT_TRUE(second.has_value());
    EXPECT_TRUE(std::equal(second->begin() + 1000, second->end(), large.begin() + 1000));
    EXPECT_TRUE(std::equal(second->begin(), second->begin() + 1000, other.begin()));
    EXPECT_EQ(client->completions.size(), 1u);
    EXPECT_EQ(client->builds.size(), 1u);
    const auto log = device.log();
    EXPECT_EQ(std::count_if(log.begin(), log.end(), [](const std::string& line) { return line.starts_with("add"); }), 5);
    client->send(p::Goodbye{});
    EXPECT_EQ(wait_for_end().reason, "the client said goodbye");
  }
};

/// Each round is a session of its own, built anew.
class ResumeRound : public ResumeTest {
public:
  void TestBody() override {}
  int run(const net::LoopbackFaults& to_session, const net::LoopbackFaults& from_session) {
    client->reconnects = true;
    EXPECT_TRUE(client->connect(to_session, from_session));
    run_program();
    return client->connections;
  }
};

int run_with(const net::LoopbackFaults& to_session, const net::LoopbackFaults& from_session) {
  ResumeRound round;
  return round.run(to_session, from_session);
}

// The program sends some 79,000 bytes and gets some 78,000. Small steps where small frames are, 4 KiB within bulk.
std::vector<std::uint64_t> cuts() {
  std::vector<std::uint64_t> at;
  for (std::uint64_t i = protocol::kHelloReplyBytes; i < 1200; i += 7) {
    at.push_back(i);
  }
  for (std::uint64_t i = 1200; i < 90'000; i += 1021) {
    at.push_back(i);
  }
  return at;
}

TEST(ResumeTest, CutsOfWhatTheClientSends) {
  int cut = 0;
  for (const std::uint64_t at : cuts()) {
    SCOPED_TRACE("cut after " + std::to_string(at) + " bytes");
    cut += run_with({at, 0, 1u << 20, 0ns}, {}) > 1 ? 1 : 0;
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
  EXPECT_GT(cut, 150); // the faults did happen
}

TEST(ResumeTest, CutsOfWhatTheSessionSends) {
  int cut = 0;
  for (const std::uint64_t at : cuts()) {
    SCOPED_TRACE("cut after " + std::to_string(at) + " bytes");
    cut += run_with({}, {at, 0, 1u << 20, 0ns}) > 1 ? 1 : 0;
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
  EXPECT_GT(cut, 150);
}

/// Whole frames arrive, and nothing behind them. The last frames of both directions are no cut if nothing follows them.
TEST(ResumeTest, CutsRightBehindEveryFrame) {
  net::LoopbackFaults to_session;
  net::LoopbackFaults from_session;
  to_session.follow_frames = from_session.follow_frames = true;
  from_session.greeting_bytes = protocol::kHelloReplyBytes;
  to_session.counters = std::make_shared<net::LoopbackCounters>();
  from_session.counters = std::make_shared<net::LoopbackCounters>();
  EXPECT_EQ(run_with(to_session, from_session), 1);
  const std::uint64_t up = to_session.counters->last_sequence;
  const std::uint64_t down = from_session.counters->last_sequence;
  ASSERT_GT(up, 20u);
  ASSERT_GT(down, 6u);
  for (std::uint64_t frame = 1; frame < up && !HasFailure(); ++frame) {
    SCOPED_TRACE("cut behind frame " + std::to_string(frame) + " of the client");
    to_session.cut_after_sequence = frame;
    EXPECT_GT(run_with(to_session, from_session), 1);
  }
  to_session.cut_after_sequence = 0;
  for (std::uint64_t frame = 1; frame < down && !HasFailure(); ++frame) {
    SCOPED_TRACE("cut behind frame " + std::to_string(frame) + " of the session");
    from_session.cut_after_sequence = frame;
    EXPECT_GT(run_with(to_session, from_session), 1);
  }
}

TEST(ResumeTest, PiecesOfAFewBytes) { run_with({0, 37, 1u << 20, 0ns}, {0, 41, 1u << 20, 0ns}); }

// What is sent again after a cut is what the read saw, whatever has happened to the buffer since.
class ResumeReadTest : public SessionFixture {};

TEST_F(ResumeReadTest, BytesOfAReadAreSentAgainAsTheyWere) {
  client->reconnects = true;
  ASSERT_TRUE(client->connect({}, {300'000, 0, 1u << 20, 0ns}));
  client->send(p::CreateContext{kContext, {0}});
  client->send(p::CreateQueue{kQueue, kContext, 0, false, false});
  client->send(p::CreateBuffer{kBuffer, kContext, 0, kBufferBytes, {}, {}});
  const auto all = pattern(kBufferBytes, 4);
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, all.size()), {19}, {}});
  client->send_bulk({19}, 0, all);
  ASSERT_EQ(client->finish(kQueue), CL_SUCCESS);
  const auto four = pattern(4, 5);
  client->sender().append(p::EnqueueRead{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, all.size()), {20}});
  client->sender().append(p::EnqueueFill{{kQueue, {}, false, {}}, kBuffer, 0, kBufferBytes, four});
  client->flush();
  ASSERT_TRUE(client->until([&] { return client->reads.count(20) != 0; }));
  EXPECT_GE(client->connections, 2);
  EXPECT_EQ(client->bulk[20], all);
  EXPECT_EQ(*client->read(kQueue, kBuffer, 0, 4), four);
}

class ResumeTimeTest : public SessionFixture {
protected:
  ResumeTimeTest() : SessionFixture([](SessionConfig& config) { config.parts.limits.resume_seconds = 1; }) {}
};

TEST_F(ResumeTimeTest, ASessionWithoutConnectionEndsInTime) {
  set_up_objects();
  const auto start = std::chrono::steady_clock::now();
  client->disconnect();
  const auto& how = wait_for_end();
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_NE(how.reason.find("did not come back"), std::string::npos);
  EXPECT_GE(took, 900ms);
  EXPECT_LT(took, 3s);
}

TEST_F(ResumeTimeTest, WorkGoesOnWithoutAConnection) {
  set_up_objects();
  device.set_deferred(true);
  const std::int32_t five = 5;
  client->send(add(five, {kQueue, {90}, true, {}}));
  ASSERT_TRUE(device_waits_for(1));
  client->send(add(five, {kQueue, {91}, true, {}}));
  ASSERT_FALSE(client->until([] { return false; }, 100ms)); // gives the session the time to read
  client->disconnect();
  ASSERT_TRUE(device.complete_waiting());
  ASSERT_TRUE(device_waits_for(1)) << "the second command did not start";
  ASSERT_TRUE(device.complete_waiting());
  ASSERT_TRUE(client->connect());
  EXPECT_EQ(client->status_of({90}), CL_COMPLETE);
  EXPECT_EQ(client->status_of({91}), CL_COMPLETE);
}

} // namespace
} // namespace farcl::daemon::test
