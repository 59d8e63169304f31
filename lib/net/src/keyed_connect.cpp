#include "keyed_connect.hpp"

#include "farcl/net/hello_seal.hpp"
#include "hello_exchange.hpp"
#include "tls_transport.hpp"

#include <cerrno>
#include <sys/socket.h>

namespace farcl::net {

namespace {
/// Looks at the first byte of the answer and leaves it there: a refusal in the clear begins like every FarCL message.
Result<bool> answers_in_the_clear(int socket, Clock::time_point deadline) {
  for (;;) {
    std::byte first{};
    const ssize_t got = ::recv(socket, &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got == 1) {
      return first == static_cast<std::byte>(protocol::kMagic[0]);
    }
    if (got == 0) {
      return fail(ErrorCode::kDisconnected, "it closed the connection during the greeting");
    }
    if (errno != EAGAIN && errno != EINTR) {
      return connection_error(errno, "during the greeting");
    }
    if (time_left(deadline).count() == 0) {
      return fail(ErrorCode::kTimeout, "it does not answer");
    }
    pollfd one{socket, POLLIN, 0};
    sleep_on(std::span(&one, 1), time_left(deadline), nullptr);
  }
}

/// What a refusal without a seal means: true or not, it comes from somebody who has not shown that he has the key.
Error distrust(const protocol::HelloReply& reply, const Key& key) {
  using protocol::HelloStatus;
  const std::string name = "the key '" + key.name + "'";
  switch (reply.status) {
  case HelloStatus::kNoKeys:
    return {ErrorCode::kRefused, 0,
            "it has no keys, and " + name +
                " is meant for it; so it could be anybody. Start farcld with --keys there, or say in the key file that it has none: "
                "a line 'NAME none servers=HOST:PORT' above"};
  case HelloStatus::kKeyRefused: return {ErrorCode::kRefused, 0, "it does not accept " + name + ": " + reply.text};
  case HelloStatus::kWelcome: return {ErrorCode::kRefused, 0, "it did not prove that it has " + name + ", and wants to go on in the clear"};
  default: return {ErrorCode::kRefused, 0, "it refused without proving that it has " + name + ": " + reply.text};
  }
}

Result<Connection> take_refusal(TransportPtr transport, int socket, const protocol::HelloBytes& hello, const Key& key,
                                Clock::time_point deadline) {
  auto answer = receive_hello_reply(socket, deadline);
  if (!answer) {
    return pass_on(std::move(answer));
  }
  if (answer->reply.status == protocol::HelloStatus::kWelcome || !is_sealed_by(answer->bytes, hello, key)) {
    return tl::unexpected<Error>(distrust(answer->reply, key));
  }
  return Connection{std::move(transport), std::move(answer->reply), {}};
}

Result<protocol::HelloReply> receive_reply(Transport& transport, Clock::time_point deadline) {
  protocol::HelloReplyBytes bytes{};
  for (std::size_t have = 0; have < bytes.size();) {
    auto got = transport.receive(MutableBytes(bytes).subspan(have));
    if (!got) {
      return pass_on(std::move(got));
    }
    have += *got;
    if (*got == 0) {
      if (time_left(deadline).count() == 0) {
        return fail(ErrorCode::kTimeout, "it does not answer");
      }
      (void)transport.wait(Interest::kReadable, time_left(deadline), nullptr);
    }
  }
  return protocol::decode_hello_reply(bytes);
}
} // namespace

Result<Connection> connect_with_key(UniqueFd socket, protocol::Hello hello, const Key& key, Clock::time_point deadline) {
  hello.key = key.id;
  auto bytes = prepare_hello(hello);
  if (!bytes) {
    return pass_on(std::move(bytes));
  }
  seal_hello(*bytes, key);
  const Secret secret = one_time_key(key, *bytes);
  const int fd = socket.get();
  auto transport = TlsTransport::make(TlsRole::kClient, std::move(socket), &secret);
  if (!transport) {
    return pass_on(std::move(transport));
  }
  if (auto sent = send_hello(fd, *bytes, deadline); !sent) {
    return pass_on(std::move(sent));
  }
  if (auto begun = (*transport)->begin_handshake(); !begun) {
    return pass_on(std::move(begun));
  }
  auto in_the_clear = answers_in_the_clear(fd, deadline);
  if (!in_the_clear) {
    return pass_on(std::move(in_the_clear));
  }
  if (*in_the_clear) {
    return take_refusal(std::move(*transport), fd, *bytes, key, deadline);
  }
  if (auto agreed = (*transport)->finish_handshake(deadline); !agreed) {
    return pass_on(std::move(agreed));
  }
  auto reply = receive_reply(**transport, deadline);
  if (!reply) {
    return pass_on(std::move(reply));
  }
  return Connection{std::move(*transport), std::move(*reply), {}};
}

} // namespace farcl::net
