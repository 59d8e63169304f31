// The emulator is right: what the other tests here say rests on it.
#include "support/link_emulator.hpp"
#include "support/namespaces.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>

namespace farcl::netns {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr std::uint16_t kPort = 9;
constexpr std::size_t kPayloadBytes = 972; ///< 1,000 bytes with the headers of IP and UDP

double milliseconds_since(Clock::time_point begin) { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); }

class Emulator : public ::testing::Test {
protected:
  void SetUp() override {
    auto first = Namespace::make();
    auto second = first ? Namespace::make() : Result<Namespace>(tl::unexpected<Error>(first.error()));
    if (!second) {
      GTEST_SKIP() << "no namespaces here: " << second.error().message;
    }
    auto first_device = first->open_tun("10.99.0.1");
    auto second_device = second->open_tun("10.99.0.2");
    if (!first_device || !second_device) {
      GTEST_SKIP() << "no TUN devices here: " << (first_device ? second_device : first_device).error().message;
    }
    open_socket(*first, "10.99.0.1", "10.99.0.2", sender_);
    open_socket(*second, "10.99.0.2", "10.99.0.1", receiver_);
    link_ = std::make_unique<LinkEmulator>(std::move(*first_device), std::move(*second_device), LinkConditions{});
  }

  static void open_socket(const Namespace& where, const char* own, const char* peer, UniqueFd& socket) {
    const auto address = [](const char* text) {
      sockaddr_in in{};
      in.sin_family = AF_INET;
      in.sin_port = htons(kPort);
      ::inet_pton(AF_INET, text, &in.sin_addr);
      return in;
    };
    const auto status = where.run([&]() -> Status {
      socket.reset(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      const sockaddr_in from = address(own);
      const sockaddr_in to = address(peer);
      const int room = 4 << 20;
      ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
      ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
      const bool done = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0 &&
                        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
      return done ? Status() : fail_errno(errno, "a socket");
    });
    ASSERT_TRUE(status) << status.error().message;
  }

  static void send(const UniqueFd& socket, int packets) {
    const std::array<char, kPayloadBytes> bytes{};
    for (int i = 0; i < packets; ++i) {
      ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    }
  }
  /// Packets that come until none has come for so long.
  static int receive(const UniqueFd& socket, int at_most, milliseconds patience) {
    int count = 0;
    std::array<char, kPayloadBytes> bytes;
    for (pollfd one{socket.get(), POLLIN, 0}; count < at_most && ::poll(&one, 1, static_cast<int>(patience.count())) == 1; ++count) {
      EXPECT_EQ(::recv(socket.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    }
    return count;
  }

  UniqueFd sender_;
  UniqueFd receiver_;
  std::unique_ptr<LinkEmulator> link_;
};

TEST_F(Emulator, DelaysBothWays) {
  link_->set({.delay = milliseconds(30)});
  const auto begin = Clock::now();
  send(sender_, 1);
  ASSERT_EQ(receive(receiver_, 1, milliseconds(1000)), 1);
  const double one_way = milliseconds_since(begin);
  send(receiver_, 1);
  ASSERT_EQ(receive(sender_, 1, milliseconds(1000)), 1);
  EXPECT_GE(one_way, 30);
  EXPECT_GE(milliseconds_since(begin), 60);
  EXPECT_LT(milliseconds_since(begin), 120); // not several times as much
}

TEST_F(Emulator, HoldsARate) {
  link_->set({.megabits_per_second = 8});
  const auto begin = Clock::now();
  send(sender_, 200); // 200,000 bytes: 200 ms
  ASSERT_EQ(receive(receiver_, 200, milliseconds(1000)), 200);
  EXPECT_GE(milliseconds_since(begin), 199);
  EXPECT_LT(milliseconds_since(begin), 300);
  EXPECT_EQ(link_->delivered_bytes(1), 200'000u);
}

TEST_F(Emulator, DropsWhatTheQueueDoesNotTake) {
  link_->set({.megabits_per_second = 80, .queue_bytes = 50'000});
  send(sender_, 1000);
  const int arrived = receive(receiver_, 1000, milliseconds(200));
  EXPECT_GE(arrived, 50);
  EXPECT_LT(arrived, 900);
  EXPECT_EQ(link_->lost_packets(), static_cast<std::uint64_t>(1000 - arrived));
}

TEST_F(Emulator, LosesAsManyAsItShould) {
  link_->set({.loss = 0.1});
  int arrived = 0;
  for (int i = 0; i < 20; ++i) { // in portions that no queue on the way drops
    send(sender_, 100);
    arrived += receive(receiver_, 100, milliseconds(20));
  }
  EXPECT_NEAR(arrived, 1800, 80);
}

TEST_F(Emulator, NothingPassesWhileTheLinkIsDown) {
  link_->set({.down = true});
  send(sender_, 5);
  EXPECT_EQ(receive(receiver_, 1, milliseconds(100)), 0);
  link_->set({});
  send(sender_, 5);
  EXPECT_EQ(receive(receiver_, 5, milliseconds(1000)), 5);
}

} // namespace
} // namespace farcl::netns
