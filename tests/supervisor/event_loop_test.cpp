#include "daemon/supervisor/event_loop.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace farcl::daemon {
namespace {
using namespace std::chrono_literals;

class EventLoopTest : public ::testing::Test {
protected:
  void SetUp() override {
    loop_ = std::move(EventLoop::create().value());
    loop_->run_after(5s, [this] { // no test waits for ever
      timed_out_ = true;
      loop_->stop();
    });
  }
  void TearDown() override { EXPECT_FALSE(timed_out_); }

  std::pair<UniqueFd, UniqueFd> pair() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
  }

  std::unique_ptr<EventLoop> loop_;
  bool timed_out_ = false;
};

TEST_F(EventLoopTest, TimersRunInTheOrderOfTheirTimes) {
  std::vector<int> order;
  loop_->run_after(20ms, [&] { order.push_back(2); });
  loop_->run_after(40ms, [&] { loop_->stop(); });
  loop_->run_after(1ms, [&] { order.push_back(1); });
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(EventLoopTest, TimersNeverRunEarly) {
  const auto begin = EventLoop::Clock::now();
  loop_->run_after(15ms, [&] { loop_->stop(); });
  ASSERT_TRUE(loop_->run());
  EXPECT_GE(EventLoop::Clock::now() - begin, 15ms);
}

TEST_F(EventLoopTest, ACancelledTimerDoesNotRun) {
  bool ran = false;
  EventLoop::TimerId timer = loop_->run_after(1ms, [&] { ran = true; });
  loop_->cancel(timer);
  EXPECT_EQ(timer, 0u);
  loop_->cancel(timer);
  loop_->run_after(20ms, [&] { loop_->stop(); });
  ASSERT_TRUE(loop_->run());
  EXPECT_FALSE(ran);
}

TEST_F(EventLoopTest, ATimerMayCancelTheNextAndSetOthers) {
  bool second_ran = false;
  EventLoop::TimerId second = 0;
  loop_->run_after(1ms, [&] {
    loop_->cancel(second);
    loop_->run_after(1ms, [&] { loop_->stop(); });
  });
  second = loop_->run_after(1ms, [&] { second_ran = true; });
  ASSERT_TRUE(loop_->run());
  EXPECT_FALSE(second_ran);
}

TEST_F(EventLoopTest, AHandlerMayForgetItselfAndOthersOfTheSameTurn) {
  auto [first, first_peer] = pair();
  auto [second, second_peer] = pair();
  ASSERT_EQ(::write(first_peer.get(), "x", 1), 1);
  ASSERT_EQ(::write(second_peer.get(), "x", 1), 1);
  int calls = 0;
  const auto handler = [&, a = first.get(), b = second.get()] {
    ++calls;
    loop_->forget(a);
    loop_->forget(b);
  };
  ASSERT_TRUE(loop_->watch(first.get(), handler));
  ASSERT_TRUE(loop_->watch(second.get(), handler));
  loop_->run_after(20ms, [&] { loop_->stop(); });
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(calls, 1);
}

TEST_F(EventLoopTest, AnEventOfAClosedDescriptorDoesNotReachItsSuccessor) {
  auto [first, first_peer] = pair();
  auto [second, second_peer] = pair();
  ASSERT_EQ(::write(first_peer.get(), "x", 1), 1);
  ASSERT_EQ(::write(second_peer.get(), "x", 1), 1);
  int successor_calls = 0;
  auto [fresh, fresh_peer] = pair(); // nothing to read there
  const auto replace = [&, a = first.get(), b = second.get()] {
    // Whoever comes first closes the other, whose number is given to a socket with nothing to read.
    for (const int fd : {a, b}) {
      loop_->forget(fd);
      ::dup2(fresh.get(), fd);
    }
    ASSERT_TRUE(loop_->watch(a, [&] { ++successor_calls; }));
    ASSERT_TRUE(loop_->watch(b, [&] { ++successor_calls; }));
  };
  ASSERT_TRUE(loop_->watch(first.get(), replace));
  ASSERT_TRUE(loop_->watch(second.get(), replace));
  loop_->run_after(20ms, [&] { loop_->stop(); });
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(successor_calls, 0);
}
} // namespace
} // namespace farcl::daemon
