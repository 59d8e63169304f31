#include "hello_exchange.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace farcl::net {

namespace {
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

Result<protocol::HelloReply> exchange_hello(int socket, const protocol::Hello& hello, Clock::time_point deadline) {
  const auto request = protocol::encode_hello(hello);
  if (auto status = send_all(socket, request, deadline); !status) {
    return pass_on(std::move(status));
  }
  protocol::HelloReplyBytes reply{};
  std::size_t have = 0;
  while (have < reply.size()) {
    const ssize_t received = ::recv(socket, reply.data() + have, reply.size() - have, MSG_DONTWAIT);
    if (received > 0) {
      have += static_cast<std::size_t>(received);
      if (!begins_like_a_reply(ConstBytes(reply).first(have))) {
        return fail(ErrorCode::kInvalid, "what listens there does not speak FarCL");
      }
    } else if (received == 0) {
      return fail(ErrorCode::kDisconnected, "it closed the connection during the greeting");
    } else if (errno == EAGAIN) {
      if (auto status = wait_for(socket, POLLIN, deadline); !status) {
        return pass_on(std::move(status));
      }
    } else if (errno != EINTR) {
      return broken(errno);
    }
  }
  return protocol::decode_hello_reply(reply);
}

} // namespace farcl::net
