// A notification is never lost, whoever sleeps where, and nothing else ends a sleep.
#include "farcl/net/accept.hpp"
#include "farcl/net/loopback.hpp"
#include "farcl/net/waker.hpp"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>

namespace farcl::net {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(Waker, ConsumesEachNotificationOnce) {
  Waker waker;
  EXPECT_FALSE(waker.consume());
  waker.notify();
  waker.notify();
  EXPECT_TRUE(waker.is_notified());
  EXPECT_TRUE(waker.consume());
  EXPECT_FALSE(waker.consume());
}

TEST(Waker, OneThatCameBeforeEndsTheNextWaitAtOnce) {
  Waker waker;
  waker.notify();
  const auto start = Clock::now();
  EXPECT_TRUE(waker.wait(10s));
  EXPECT_LT(Clock::now() - start, 5s);
  EXPECT_FALSE(waker.wait(0ns));
}

TEST(Waker, WaitsAsLongAsItShould) {
  Waker waker;
  const auto start = Clock::now();
  EXPECT_FALSE(waker.wait(50ms));
  EXPECT_GE(Clock::now() - start, 50ms);
}

/// A partner that answers each notification with a number: if one got lost, the game would stop.
template <class Sleep>
void ping_pong(Waker& waker, int rounds, Sleep&& sleep) {
  std::atomic<int> asked{0};
  std::atomic<int> answered{0};
  std::thread notifier([&] {
    for (int i = 1; i <= rounds; ++i) {
      asked.store(i, std::memory_order_release);
      waker.notify();
      const auto limit = Clock::now() + 20s;
      while (answered.load(std::memory_order_acquire) < i && Clock::now() < limit) {
        if (i % 3 == 0) {
          std::this_thread::yield();
        }
      }
    }
  });
  const auto limit = Clock::now() + 40s;
  for (int seen = 0; seen < rounds && Clock::now() < limit;) {
    sleep();
    if (const int now = asked.load(std::memory_order_acquire); now != seen) {
      seen = now;
      answered.store(now, std::memory_order_release);
    }
  }
  notifier.join();
  EXPECT_EQ(answered.load(), rounds);
}

TEST(Waker, LosesNothingBetweenThreads) {
  Waker waker;
  const auto start = Clock::now();
  ping_pong(waker, 20'000, [&] { (void)waker.wait(10s); });
  EXPECT_LT(Clock::now() - start, 30s) << "a lost notification costs 10 s";
}

TEST(Waker, LosesNothingInASocketsWait) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  auto transport = adopt_socket(UniqueFd(ends[0]));
  const UniqueFd other(ends[1]);
  ASSERT_TRUE(transport.has_value());
  Waker waker;
  const auto start = Clock::now();
  ping_pong(waker, 10'000, [&] { EXPECT_EQ((*transport)->wait(Interest::kReadable, 10s, &waker), Interest::kNone); });
  EXPECT_LT(Clock::now() - start, 30s);
}

TEST(Waker, LosesNothingInALoopbacksWait) {
  auto transports = make_loopback();
  Waker waker;
  const auto start = Clock::now();
  ping_pong(waker, 10'000, [&] { EXPECT_EQ(transports.first->wait(Interest::kReadable, 10s, &waker), Interest::kNone); });
  EXPECT_LT(Clock::now() - start, 30s);
}

TEST(Waker, ManyNotifiersOneOwner) {
  Waker waker;
  std::atomic<int> posted{0};
  std::vector<std::thread> notifiers;
  for (int i = 0; i < 4; ++i) {
    notifiers.emplace_back([&] {
      for (int n = 0; n < 5'000; ++n) {
        posted.fetch_add(1, std::memory_order_release);
        waker.notify();
      }
    });
  }
  const auto limit = Clock::now() + 30s;
  int seen = 0;
  while (seen < 20'000 && Clock::now() < limit) {
    ASSERT_TRUE(waker.wait(10s));
    seen = posted.load(std::memory_order_acquire);
  }
  EXPECT_EQ(seen, 20'000);
  for (auto& one : notifiers) {
    one.join();
  }
}

} // namespace
} // namespace farcl::net
