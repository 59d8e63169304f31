// What Transport promises, for each implementation: tcp, unix, pipes, rings, tls, loopback.
#include "farcl/net/accept.hpp"
#include "farcl/net/loopback.hpp"
#include "farcl/net/transport.hpp"
#include "ring_ends.hpp"
#include "tls_ends.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <thread>

namespace farcl::net {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Ends = std::pair<TransportPtr, TransportPtr>;

Ends tcp_ends() {
  auto listener = listen_tcp({"127.0.0.1", 0});
  EXPECT_TRUE(listener.has_value());
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(*bound_port(listener->get()));
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  UniqueFd server(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
  return {std::move(*adopt_socket(std::move(client))), std::move(*adopt_socket(std::move(server)))};
}
Ends unix_ends() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {std::move(*adopt_socket(UniqueFd(ends[0]))), std::move(*adopt_socket(UniqueFd(ends[1])))};
}
Ends pipe_ends() {
  int there[2] = {-1, -1};
  int back[2] = {-1, -1};
  EXPECT_EQ(::pipe(there), 0);
  EXPECT_EQ(::pipe(back), 0);
  return {adopt_pipes(UniqueFd(back[0]), UniqueFd(there[1])), adopt_pipes(UniqueFd(there[0]), UniqueFd(back[1]))};
}
Ends ring_ends() {
  auto ends = testing::make_ring_ends();
  return {std::move(ends.client), std::move(ends.server)};
}
Ends loopback_ends() { return make_loopback(); }

struct Kind {
  const char* name;
  Ends (*make)();
};

class EveryTransport : public ::testing::TestWithParam<Kind> {
protected:
  void SetUp() override {
    // The library must not need this of its host; if it raised SIGPIPE, the test would end here.
    ::signal(SIGPIPE, SIG_DFL);
    std::tie(first, second) = GetParam().make();
  }
  static Result<std::size_t> send(Transport& transport, std::string_view text) {
    const ConstBytes part = std::as_bytes(std::span(text));
    return transport.send(std::span(&part, 1));
  }
  static std::string receive(Transport& transport, std::size_t size) {
    std::string text;
    const auto limit = Clock::now() + 5s;
    while (text.size() < size && Clock::now() < limit) {
      std::array<char, 4096> buffer{};
      auto got = transport.receive(std::as_writable_bytes(std::span(buffer).first(std::min(buffer.size(), size - text.size()))));
      if (!got) {
        return text + " and then " + got.error().message;
      }
      text.append(buffer.data(), *got);
      if (*got == 0) {
        (void)transport.wait(Interest::kReadable, 100ms, nullptr);
      }
    }
    return text;
  }
  TransportPtr first;
  TransportPtr second;
};

TEST_P(EveryTransport, MovesBytesBothWays) {
  EXPECT_EQ(*send(*first, "hello"), 5u);
  EXPECT_EQ(receive(*second, 5), "hello");
  EXPECT_EQ(*send(*second, "answer"), 6u);
  EXPECT_EQ(receive(*first, 6), "answer");
  EXPECT_FALSE(first->description().empty());
}

TEST_P(EveryTransport, GathersParts) {
  std::vector<std::string> texts;
  std::vector<ConstBytes> parts;
  std::string expected;
  for (int i = 0; i < 64; ++i) {
    texts.push_back("part " + std::to_string(i) + ";");
    expected += texts.back();
  }
  for (const auto& text : texts) {
    parts.push_back(std::as_bytes(std::span(text)));
  }
  EXPECT_EQ(*first->send(parts), expected.size());
  EXPECT_EQ(receive(*second, expected.size()), expected);
}

TEST_P(EveryTransport, NothingThereIsZero) {
  std::array<std::byte, 10> buffer{};
  EXPECT_EQ(*first->receive(buffer), 0u);
  const auto start = Clock::now();
  EXPECT_EQ(first->wait(Interest::kReadable, 30ms, nullptr), Interest::kNone);
  EXPECT_GE(Clock::now() - start, 30ms);
  EXPECT_EQ(first->wait(Interest::kReadable | Interest::kWritable, 5s, nullptr), Interest::kWritable);
}

TEST_P(EveryTransport, WaitSeesBytes) {
  std::thread sender([&] {
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(*send(*second, "x"), 1u);
  });
  EXPECT_EQ(first->wait(Interest::kReadable, 10s, nullptr), Interest::kReadable);
  sender.join();
}

TEST_P(EveryTransport, WaitIsEndedByItsWaker) {
  Waker waker;
  std::thread notifier([&] {
    std::this_thread::sleep_for(20ms);
    waker.notify();
  });
  const auto start = Clock::now();
  EXPECT_EQ(first->wait(Interest::kReadable, 10s, &waker), Interest::kNone);
  EXPECT_LT(Clock::now() - start, 5s);
  notifier.join();
  EXPECT_FALSE(waker.is_notified());
}

TEST_P(EveryTransport, AWakerDoesNotHideBytes) {
  Waker waker;
  waker.notify();
  ASSERT_EQ(*send(*second, "x"), 1u);
  EXPECT_EQ(first->wait(Interest::kReadable, 10s, &waker), Interest::kReadable);
  EXPECT_FALSE(waker.is_notified());
}

TEST_P(EveryTransport, TakesNoMoreWhenFullAndSaysWhenItDoesAgain) {
  const std::string block(64 << 10, 'b');
  std::size_t total = 0;
  for (;;) {
    auto sent = send(*first, block);
    ASSERT_TRUE(sent.has_value());
    if (*sent == 0) {
      break;
    }
    total += *sent;
    ASSERT_LT(total, 1u << 30);
  }
  EXPECT_EQ(first->wait(Interest::kWritable, 10ms, nullptr), Interest::kNone);
  std::thread reader([&] { EXPECT_EQ(receive(*second, total).size(), total); });
  EXPECT_EQ(first->wait(Interest::kWritable, 10s, nullptr), Interest::kWritable);
  reader.join();
}

TEST_P(EveryTransport, EndOfStreamComesAfterTheBytes) {
  ASSERT_EQ(*send(*first, "last words"), 10u);
  first.reset();
  EXPECT_EQ(receive(*second, 10), "last words");
  EXPECT_EQ(second->wait(Interest::kReadable, 10s, nullptr), Interest::kReadable);
  std::array<std::byte, 10> buffer{};
  const auto got = second->receive(buffer);
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kClosed);
  // Sending into the void fails without a signal; TCP needs a moment to hear of it.
  const auto limit = Clock::now() + 5s;
  Result<std::size_t> sent = 0;
  while ((sent = send(*second, "anybody?")).has_value() && Clock::now() < limit) {
    std::this_thread::sleep_for(1ms);
  }
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().code, ErrorCode::kDisconnected);
}

TEST_P(EveryTransport, ShutdownFromAnotherThreadEndsAWait) {
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    first->shutdown();
  });
  const auto start = Clock::now();
  EXPECT_EQ(first->wait(Interest::kReadable, 10s, nullptr), Interest::kReadable);
  EXPECT_LT(Clock::now() - start, 5s);
  other.join();
  std::array<std::byte, 10> buffer{};
  EXPECT_FALSE(first->receive(buffer).has_value());
  EXPECT_FALSE(send(*first, "x").has_value());
  EXPECT_EQ(second->wait(Interest::kReadable, 10s, nullptr), Interest::kReadable);
  EXPECT_EQ(second->receive(buffer).error().code, ErrorCode::kClosed);
}

TEST_P(EveryTransport, OneThreadSendsWhileAnotherReceives) {
  constexpr std::size_t kTotal = 4u << 20;
  const auto pump = [&](Transport& transport) {
    const std::string block(10'000, 'z');
    for (std::size_t left = kTotal; left != 0;) {
      auto sent = send(transport, std::string_view(block).substr(0, left));
      ASSERT_TRUE(sent.has_value());
      left -= *sent;
      if (*sent == 0) {
        (void)transport.wait(Interest::kWritable, 100ms, nullptr);
      }
    }
  };
  const auto drain = [&](Transport& transport) {
    ByteVector buffer(32 << 10);
    const auto limit = Clock::now() + 30s;
    std::size_t total = 0;
    while (total < kTotal && Clock::now() < limit) {
      auto got = transport.receive(buffer);
      ASSERT_TRUE(got.has_value());
      total += *got;
      if (*got == 0) {
        std::this_thread::yield();
      }
    }
    EXPECT_EQ(total, kTotal);
  };
  std::vector<std::thread> threads;
  threads.emplace_back([&] { pump(*first); });
  threads.emplace_back([&] { pump(*second); });
  threads.emplace_back([&] { drain(*first); });
  threads.emplace_back([&] { drain(*second); });
  for (auto& thread : threads) {
    thread.join();
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryTransport,
                         ::testing::Values(Kind{"tcp", tcp_ends}, Kind{"unix", unix_ends}, Kind{"pipes", pipe_ends},
                                           Kind{"rings", ring_ends}, Kind{"tls", testing::make_tls_ends}, Kind{"loopback", loopback_ends}),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST(SocketTransport, SetsItsOptions) {
  int ends[2] = {-1, -1};
  auto listener = listen_tcp({"127.0.0.1", 0});
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(*bound_port(listener->get()));
  ends[0] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(ends[0], reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto transport = adopt_socket(UniqueFd(ends[0]));
  ASSERT_TRUE(transport.has_value());
  int value = 0;
  socklen_t length = sizeof value;
  ::getsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &value, &length);
  EXPECT_NE(value, 0);
  ::getsockopt(ends[0], SOL_SOCKET, SO_KEEPALIVE, &value, &length);
  EXPECT_EQ(value, 0);
  EXPECT_EQ((*transport)->description(), "tcp 127.0.0.1:" + std::to_string(*bound_port(listener->get())));
}

TEST(SocketTransport, RefusesWhatIsNoConnection) {
  EXPECT_FALSE(adopt_socket(UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))).has_value());
  EXPECT_FALSE(adopt_socket(UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC))).has_value());
}

TEST(Loopback, DelaysAndCounts) {
  const auto counters = std::make_shared<LoopbackCounters>();
  LoopbackFaults faults;
  faults.delay = 30ms;
  faults.counters = counters;
  auto [first, second] = make_loopback(faults);
  const ByteVector bytes(10);
  const ConstBytes part = bytes;
  const auto start = Clock::now();
  ASSERT_EQ(*first->send(std::span(&part, 1)), 10u);
  ByteVector buffer(100);
  EXPECT_EQ(*second->receive(buffer), 0u);
  EXPECT_EQ(second->wait(Interest::kReadable, 10s, nullptr), Interest::kReadable);
  EXPECT_GE(Clock::now() - start, 30ms);
  EXPECT_EQ(*second->receive(buffer), 10u);
  EXPECT_EQ(counters->bytes, 10u);
  EXPECT_EQ(counters->sends, 1u);
  EXPECT_EQ(counters->receives, 2u);
  EXPECT_EQ(counters->waits, 1u);
}

TEST(Loopback, CutsWhereItSays) {
  LoopbackFaults faults;
  faults.cut_after_bytes = 7;
  auto [first, second] = make_loopback(faults);
  const ByteVector bytes(10);
  const ConstBytes part = bytes;
  EXPECT_EQ(*first->send(std::span(&part, 1)), 7u);
  EXPECT_FALSE(first->send(std::span(&part, 1)).has_value());
  ByteVector buffer(100);
  EXPECT_EQ(*second->receive(buffer), 7u);
  EXPECT_EQ(second->wait(Interest::kReadable, 10s, nullptr), Interest::kReadable);
  EXPECT_EQ(second->receive(buffer).error().code, ErrorCode::kDisconnected);
  EXPECT_EQ(first->receive(buffer).error().code, ErrorCode::kDisconnected);
}

} // namespace
} // namespace farcl::net
