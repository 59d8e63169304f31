// A client with a key against servers that have it, have another one, have none, or are somebody in between.
#include "farcl/net/connect.hpp"

#include "farcl/net/accept.hpp"
#include "farcl/net/hello_seal.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

namespace farcl::net {
namespace {

using namespace std::chrono_literals;
using protocol::HelloStatus;
using ::testing::HasSubstr;

class KeyedConnect : public ::testing::Test {
protected:
  /// One connection to a server that does what `serve` says with its socket.
  Result<Connection> connect_to(const std::function<void(UniqueFd)>& serve, const protocol::Hello& hello = {}) {
    auto listener = std::move(*listen_tcp({"127.0.0.1", 0}));
    std::thread server([&] {
      pollfd one{listener.get(), POLLIN, 0};
      if (::poll(&one, 1, 10'000) == 1) {
        serve(UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)));
      }
    });
    ConnectOptions options;
    options.timeout = 5s;
    options.key = std::make_shared<Key>(key);
    auto connection = connect(*parse_server_address("127.0.0.1:" + std::to_string(*bound_port(listener.get()))), hello, options);
    server.join();
    return connection;
  }
  protocol::HelloBytes read_hello(int socket) {
    protocol::HelloBytes bytes{};
    EXPECT_EQ(::recv(socket, bytes.data(), bytes.size(), MSG_WAITALL), static_cast<ssize_t>(bytes.size()));
    return bytes;
  }
  /// What is not read when a socket is closed turns its end into a reset.
  static void drain(int socket) {
    std::array<char, 4096> rest{};
    for (pollfd one{socket, POLLIN, 0}; ::poll(&one, 1, 50) == 1 && ::recv(socket, rest.data(), rest.size(), 0) > 0;) {
    }
  }
  /// What a supervisor says to somebody whom it does not let in.
  static std::function<void(UniqueFd)> refusing(HelloStatus status, const Key* sealed_by = nullptr) {
    return [status, sealed_by](UniqueFd socket) {
      protocol::HelloBytes hello{};
      ::recv(socket.get(), hello.data(), hello.size(), MSG_WAITALL);
      protocol::HelloReply reply;
      reply.status = status;
      reply.text = "go away";
      auto bytes = protocol::encode_hello_reply(reply);
      if (sealed_by != nullptr) {
        seal_reply(bytes, hello, *sealed_by);
      }
      ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      drain(socket.get());
    };
  }
  std::string failure_of(const std::function<void(UniqueFd)>& serve) {
    const auto connection = connect_to(serve);
    return connection ? "it connected" : connection.error().message;
  }

  const Key key = *make_key("alice");
  const Key other = *make_key("alice");
};

TEST_F(KeyedConnect, MeetsAServerWithItsKey) {
  protocol::Hello hello;
  hello.session.fill(3);
  hello.proof.fill(4);
  hello.received = 77;
  const auto connection = connect_to(
      [&](UniqueFd socket) {
        const auto bytes = read_hello(socket.get());
        const auto seen = protocol::decode_hello(bytes);
        ASSERT_TRUE(seen.has_value());
        EXPECT_EQ(seen->key, key.id);
        EXPECT_TRUE(is_sealed_by(bytes, key));
        EXPECT_TRUE(proves_session(bytes, hello.proof));
        EXPECT_NE(seen->proof, hello.proof) << "a secret of a session in the clear";
        auto transport = accept_encrypted(std::move(socket), one_time_key(key, bytes), 5s);
        ASSERT_TRUE(transport.has_value()) << transport.error().message;
        protocol::HelloReply reply;
        reply.received = 99;
        ASSERT_TRUE(send_hello_reply(**transport, reply));
        (void)(*transport)->wait(Interest::kReadable, 5s, nullptr);
      },
      hello);
  ASSERT_TRUE(connection.has_value()) << connection.error().message;
  EXPECT_EQ(connection->reply.status, HelloStatus::kWelcome);
  EXPECT_EQ(connection->reply.received, 99u);
  EXPECT_THAT(connection->transport->description(), HasSubstr("encrypted"));
}

TEST_F(KeyedConnect, EachHelloIsAnother) {
  protocol::HelloBytes seen[2];
  for (auto& bytes : seen) {
    (void)connect_to([&](UniqueFd socket) { bytes = read_hello(socket.get()); });
  }
  EXPECT_NE(protocol::decode_hello(seen[0])->nonce, protocol::decode_hello(seen[1])->nonce);
}

TEST_F(KeyedConnect, AServerWithAnotherKeyIsNotTrusted) {
  EXPECT_NE(failure_of([&](UniqueFd socket) {
              const auto bytes = read_hello(socket.get());
              EXPECT_FALSE(accept_encrypted(std::move(socket), one_time_key(other, bytes), 2s).has_value());
            }),
            "it connected");
}

TEST_F(KeyedConnect, IsNotTalkedIntoTheClear) {
  EXPECT_THAT(failure_of(refusing(HelloStatus::kWelcome)), HasSubstr("did not prove that it has the key 'alice'"));
  EXPECT_THAT(failure_of(refusing(HelloStatus::kWelcome, &key)), HasSubstr("in the clear")) << "not even under seal";
}

TEST_F(KeyedConnect, AServerWithoutKeysIsRefused) {
  EXPECT_THAT(failure_of(refusing(HelloStatus::kNoKeys)), ::testing::AllOf(HasSubstr("it has no keys"), HasSubstr("none servers=")));
}

TEST_F(KeyedConnect, AKeyThatIsNotTaken) {
  EXPECT_THAT(failure_of(refusing(HelloStatus::kKeyRefused)), HasSubstr("does not accept the key 'alice': go away"));
}

// Otherwise anybody on the way could end a session by saying that it has died.
TEST_F(KeyedConnect, ProofOfDeathNeedsTheKey) {
  for (const HelloStatus status : {HelloStatus::kUnknownSession, HelloStatus::kObituary, HelloStatus::kTooMany}) {
    EXPECT_FALSE(connect_to(refusing(status)).has_value());
    EXPECT_FALSE(connect_to(refusing(status, &other)).has_value());
    const auto connection = connect_to(refusing(status, &key));
    ASSERT_TRUE(connection.has_value()) << connection.error().message;
    EXPECT_EQ(connection->reply.status, status);
    EXPECT_EQ(connection->reply.text, "go away");
  }
}

TEST_F(KeyedConnect, ItsOwnWordsAreNoAnswer) {
  EXPECT_NE(failure_of([&](UniqueFd socket) {
              std::array<char, 4096> bytes{};
              pollfd one{socket.get(), POLLIN, 0};
              for (ssize_t got = 1; got > 0 && ::poll(&one, 1, 1000) == 1;) {
                got = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
                if (got > 0) {
                  ::send(socket.get(), bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
                }
              }
            }),
            "it connected");
}

TEST_F(KeyedConnect, SomethingElseThanFarcl) {
  for (const char* text : {"HTTP/1.1 400 Bad Request\r\n\r\n", "\x15\x03\x03\x00\x02\x02\x28", "F"}) {
    EXPECT_NE(failure_of([&](UniqueFd socket) {
                (void)read_hello(socket.get());
                ::send(socket.get(), text, std::strlen(text), MSG_NOSIGNAL);
                ::shutdown(socket.get(), SHUT_WR);
                drain(socket.get());
              }),
              "it connected");
  }
}

} // namespace
} // namespace farcl::net
