// Encrypted connections: who is connected and who is not, what travels, and what an attacker in between can do.
#include "lib/net/src/tls_transport.hpp"
#include "tls_ends.hpp"

#include "farcl/net/connect.hpp"
#include "farcl/net/hello_seal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <thread>

namespace farcl::net {
namespace {

using namespace std::chrono_literals;
using testing::ConnectedSockets;
using ::testing::HasSubstr;

Secret secret_of(std::uint8_t value) {
  Secret secret;
  secret.bytes.fill(value);
  return secret;
}

/// Both ends shake hands at the same time; what became of each.
struct Handshake {
  Status client;
  Status server;
};
Handshake shake_hands(TlsTransport& client, TlsTransport& server) {
  Handshake done;
  std::thread other([&] {
    done.server = server.finish_handshake(deadline_after(5s));
    if (!done.server) {
      server.shutdown();
    }
  });
  done.client = client.finish_handshake(deadline_after(5s));
  if (!done.client) {
    client.shutdown();
  }
  other.join();
  return done;
}

class Tls : public ::testing::Test {
protected:
  std::unique_ptr<TlsTransport> end(TlsRole role, UniqueFd& socket, const Secret& secret, std::uint64_t bytes_per_key = 1u << 30) {
    return std::move(*TlsTransport::make(role, std::move(socket), &secret, bytes_per_key));
  }
  ConnectedSockets sockets;
  const Secret right = secret_of(1);
  const Secret wrong = secret_of(2);
};

TEST_F(Tls, TheSameKeyConnects) {
  auto client = end(TlsRole::kClient, sockets.client, right);
  auto server = end(TlsRole::kServer, sockets.server, right);
  const Handshake done = shake_hands(*client, *server);
  EXPECT_TRUE(done.client.has_value()) << done.client.error().message;
  EXPECT_TRUE(done.server.has_value()) << done.server.error().message;
  EXPECT_THAT(client->description(), HasSubstr("encrypted"));
}

TEST_F(Tls, AnotherKeyConnectsNobody) {
  auto client = end(TlsRole::kClient, sockets.client, wrong);
  auto server = end(TlsRole::kServer, sockets.server, right);
  const Handshake done = shake_hands(*client, *server);
  EXPECT_FALSE(done.client.has_value());
  EXPECT_FALSE(done.server.has_value());
}

// What comes back is what was sent: two clients, or one and its own echo.
TEST_F(Tls, AnEchoIsNoServer) {
  auto one = end(TlsRole::kClient, sockets.client, right);
  auto two = end(TlsRole::kClient, sockets.server, right);
  const Handshake done = shake_hands(*one, *two);
  EXPECT_FALSE(done.client.has_value());
  EXPECT_FALSE(done.server.has_value());
}

TEST_F(Tls, SilenceEndsInTime) {
  auto server = end(TlsRole::kServer, sockets.server, right);
  const auto begin = Clock::now();
  const auto done = server->finish_handshake(deadline_after(50ms));
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, ErrorCode::kTimeout);
  EXPECT_LT(Clock::now() - begin, 3s);
}

TEST_F(Tls, NothingOfTheDataIsOnTheWire) {
  auto client = end(TlsRole::kClient, sockets.client, right);
  const int raw = sockets.server.get();
  auto server = end(TlsRole::kServer, sockets.server, right);
  ASSERT_TRUE(shake_hands(*client, *server).client.has_value());
  const std::string text(300, 'q');
  const ConstBytes part = std::as_bytes(std::span(text));
  ASSERT_EQ(*client->send(std::span(&part, 1)), text.size());
  std::array<char, 1000> seen{};
  pollfd one{raw, POLLIN, 0};
  ASSERT_EQ(::poll(&one, 1, 5000), 1);
  const ssize_t size = ::recv(raw, seen.data(), seen.size(), MSG_PEEK);
  ASSERT_GT(size, static_cast<ssize_t>(text.size()));
  EXPECT_EQ(std::string_view(seen.data(), static_cast<std::size_t>(size)).find("qqqq"), std::string_view::npos);
}

// Small pieces are one record (22 bytes more than they have), so a launch is one write.
TEST_F(Tls, SmallPiecesAreOneRecord) {
  auto client = end(TlsRole::kClient, sockets.client, right);
  const int raw = sockets.server.get();
  auto server = end(TlsRole::kServer, sockets.server, right);
  ASSERT_TRUE(shake_hands(*client, *server).client.has_value());
  const std::array<std::byte, 100> piece{};
  const std::vector<ConstBytes> parts(30, ConstBytes(piece));
  ASSERT_EQ(*client->send(parts), 3000u);
  std::array<char, 8000> seen{};
  pollfd one{raw, POLLIN, 0};
  ASSERT_EQ(::poll(&one, 1, 5000), 1);
  EXPECT_EQ(::recv(raw, seen.data(), seen.size(), MSG_PEEK), 3000 + 22);
}

TEST_F(Tls, AChangedByteBreaksTheConnectionAndNothingElseComesOut) {
  auto client = end(TlsRole::kClient, sockets.client, right);
  const int raw = sockets.client.get();
  (void)raw;
  ConnectedSockets second; // client - relay - server
  auto server = end(TlsRole::kServer, second.server, right);
  std::atomic<bool> tamper{false};
  std::atomic<bool> stop{false};
  std::thread relay([&] {
    const auto move = [&](int from, int to, bool change) {
      std::array<char, 4096> bytes{};
      const ssize_t got = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got > 0) {
        bytes[static_cast<std::size_t>(got) / 2] = static_cast<char>(bytes[static_cast<std::size_t>(got) / 2] ^ (change ? 1 : 0));
        EXPECT_EQ(::send(to, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL), got);
      }
    };
    while (!stop) {
      move(sockets.server.get(), second.client.get(), tamper);
      move(second.client.get(), sockets.server.get(), false);
      std::this_thread::sleep_for(200us);
    }
  });
  ASSERT_TRUE(shake_hands(*client, *server).client.has_value());
  tamper = true;
  const std::array<std::byte, 500> data{};
  const ConstBytes part(data);
  ASSERT_EQ(*client->send(std::span(&part, 1)), data.size());
  ASSERT_EQ(server->wait(Interest::kReadable, 5s, nullptr), Interest::kReadable);
  std::array<std::byte, 1000> into{};
  const auto got = server->receive(into);
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kDisconnected);
  EXPECT_FALSE(server->receive(into).has_value()) << "broken is broken";
  stop = true;
  relay.join();
}

// With a key that is changed every 100 kB: megabytes in pieces of all sizes, both ways at once, through sockets that are often full.
TEST_F(Tls, ManyKeysOneStream) {
  auto client = end(TlsRole::kClient, sockets.client, right, 100'000);
  auto server = end(TlsRole::kServer, sockets.server, right, 100'000);
  ASSERT_TRUE(shake_hands(*client, *server).client.has_value());
  constexpr std::size_t kTotal = 6u << 20;
  ByteVector data(kTotal);
  for (std::size_t i = 0; i < kTotal; ++i) {
    data[i] = static_cast<std::byte>((i * 2654435761u) >> 13);
  }
  const auto pump = [&](TlsTransport& transport) {
    std::size_t sizes[] = {1, 40, 16384, 256u << 10, 16383, 16385, 5};
    for (std::size_t at = 0, turn = 0; at < kTotal;) {
      std::vector<ConstBytes> parts;
      for (std::size_t offset = at; offset < kTotal && parts.size() < 9; ++turn) {
        parts.push_back(ConstBytes(data).subspan(offset, std::min(sizes[turn % 7], kTotal - offset)));
        offset += parts.back().size();
      }
      auto sent = transport.send(parts);
      ASSERT_TRUE(sent.has_value()) << sent.error().message;
      at += *sent;
      while (*sent == 0) { // the same bytes again, in other pieces
        (void)transport.wait(Interest::kWritable, 100ms, nullptr);
        const ConstBytes rest = ConstBytes(data).subspan(at);
        sent = transport.send(std::span(&rest, 1));
        ASSERT_TRUE(sent.has_value()) << sent.error().message;
        at += *sent;
      }
    }
  };
  const auto drain = [&](TlsTransport& transport) {
    ByteVector got(kTotal);
    for (std::size_t at = 0, turn = 1; at < kTotal; ++turn) {
      auto size = transport.receive(MutableBytes(got).subspan(at, std::min<std::size_t>(turn * 777 % 70'000 + 1, kTotal - at)));
      ASSERT_TRUE(size.has_value()) << size.error().message;
      at += *size;
      if (*size == 0) {
        (void)transport.wait(Interest::kReadable, 100ms, nullptr);
      }
    }
    EXPECT_TRUE(got == data);
  };
  std::thread threads[] = {std::thread([&] { pump(*client); }), std::thread([&] { pump(*server); }), std::thread([&] { drain(*client); }),
                           std::thread([&] { drain(*server); })};
  for (auto& thread : threads) {
    thread.join();
  }
}

// What the socket no longer shows must not be slept over.
TEST_F(Tls, WaitKnowsWhatHasBeenReadAhead) {
  auto client = end(TlsRole::kClient, sockets.client, right);
  auto server = end(TlsRole::kServer, sockets.server, right);
  ASSERT_TRUE(shake_hands(*client, *server).client.has_value());
  const std::array<std::byte, 1000> data{};
  const ConstBytes part(data);
  ASSERT_EQ(*client->send(std::span(&part, 1)), data.size());
  ASSERT_EQ(*client->send(std::span(&part, 1)), data.size());
  ASSERT_EQ(server->wait(Interest::kReadable, 5s, nullptr), Interest::kReadable);
  std::array<std::byte, 10> into{};
  for (std::size_t total = 0; total < 2 * data.size();) {
    const auto got = server->receive(into);
    ASSERT_TRUE(got.has_value());
    total += *got;
    if (total < 2 * data.size()) {
      ASSERT_EQ(server->wait(Interest::kReadable, 5s, nullptr), Interest::kReadable) << total;
    }
  }
  EXPECT_EQ(*server->receive(into), 0u);
  EXPECT_EQ(server->wait(Interest::kReadable, 20ms, nullptr), Interest::kNone);
}

} // namespace
} // namespace farcl::net
