#include "hello_exchange.hpp"

#include "farcl/net/accept.hpp"
#include "farcl/net/hello_seal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <sys/socket.h>

namespace farcl::net {

namespace {
constexpr std::size_t kMaxGreetingFds = 2;

Status wait_for(int socket, short events, Clock::time_point deadline) {
  pollfd one{socket, events, 0};
  sleep_on(std::span(&one, 1), time_left(deadline), nullptr);
  if (one.revents == 0) {
    return fail(ErrorCode::kTimeout, "it does not answer");
  }
  return {};
}
tl::unexpected<Error> broken(int error_number) {
  auto failure = fail_errno(error_number, "the connection broke during the greeting");
  failure.value().code = ErrorCode::kDisconnected;
  return failure;
}

Status send_all(int socket, ConstBytes bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (auto status = wait_for(socket, POLLOUT, deadline); !status) {
        return status;
      }
    } else if (errno != EINTR) {
      return broken(errno);
    }
  }
  return {};
}

bool begins_like_a_reply(ConstBytes bytes) {
  return std::memcmp(bytes.data(), protocol::kMagic.data(), std::min(bytes.size(), protocol::kMagic.size())) == 0;
}
} // namespace

Result<protocol::HelloBytes> prepare_hello(const protocol::Hello& hello) {
  protocol::Hello fresh = hello;
  auto nonce = make_nonce();
  if (!nonce) {
    return pass_on(std::move(nonce));
  }
  fresh.nonce = *nonce;
  auto bytes = protocol::encode_hello(fresh);
  if (hello.session != protocol::SessionId{}) {
    prove_session(bytes, hello.proof);
  }
  return bytes;
}

Status send_hello(int socket, const protocol::HelloBytes& hello, Clock::time_point deadline) { return send_all(socket, hello, deadline); }

Result<HelloAnswer> exchange_hello(int socket, const protocol::Hello& hello, Clock::time_point deadline) {
  const auto request = prepare_hello(hello);
  if (!request) {
    return tl::unexpected<Error>(request.error());
  }
  if (auto status = send_hello(socket, *request, deadline); !status) {
    return pass_on(std::move(status));
  }
  return receive_hello_reply(socket, deadline);
}

Result<HelloAnswer> receive_hello_reply(int socket, Clock::time_point deadline) {
  HelloAnswer answer;
  protocol::HelloReplyBytes bytes{};
  std::size_t have = 0;
  while (have < bytes.size()) {
    auto received = receive_with_fds(socket, MutableBytes(bytes).subspan(have), kMaxGreetingFds, MSG_DONTWAIT);
    if (received && received->size_bytes != 0) {
      have += received->size_bytes;
      std::move(received->fds.begin(), received->fds.end(), std::back_inserter(answer.fds));
      if (!begins_like_a_reply(ConstBytes(bytes).first(have))) {
        return fail(ErrorCode::kInvalid, "what listens there does not speak FarCL");
      }
    } else if (received) {
      return fail(ErrorCode::kDisconnected, "it closed the connection during the greeting");
    } else if (received.error().code == ErrorCode::kTimeout) {
      if (auto status = wait_for(socket, POLLIN, deadline); !status) {
        return pass_on(std::move(status));
      }
    } else {
      return broken(received.error().system_errno);
    }
  }
  answer.bytes = bytes;
  auto reply = protocol::decode_hello_reply(bytes);
  if (!reply) {
    return pass_on(std::move(reply));
  }
  answer.reply = std::move(*reply);
  return answer;
}

} // namespace farcl::net
