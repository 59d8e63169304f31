#include "socket_transport.hpp"

#include "farcl/net/accept.hpp"
#include "sleep.hpp"
#include "tcp_facts.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

namespace farcl::net {

namespace {
bool would_block(int error_number) { return error_number == EAGAIN || error_number == EWOULDBLOCK; }

void set_option(int socket, int level, int name, int value) { ::setsockopt(socket, level, name, &value, sizeof value); }

std::string describe_tcp(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (peer.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return "tcp [" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
  ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  return "tcp " + std::string(text.data()) + ":" + std::to_string(ntohs(v4.sin_port));
}

/// The path of a Unix address; empty for unnamed sockets.
std::string path_of(const sockaddr_storage& address, socklen_t length) {
  constexpr std::size_t kPathAt = offsetof(sockaddr_un, sun_path);
  if (length <= kPathAt) {
    return {};
  }
  const auto& local = reinterpret_cast<const sockaddr_un&>(address);
  return {local.sun_path, ::strnlen(local.sun_path, length - kPathAt)};
}
} // namespace

Interest to_interest(short read_events, short write_events) {
  Interest ready = Interest::kNone;
  if ((read_events & (POLLIN | POLLERR | POLLHUP | POLLNVAL | POLLRDHUP)) != 0 || (write_events & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
    ready = ready | Interest::kReadable;
  }
  if ((write_events & POLLOUT) != 0) {
    ready = ready | Interest::kWritable;
  }
  return ready;
}

tl::unexpected<Error> connection_error(int error_number, const std::string& description) {
  auto failure = fail_errno(error_number, "the connection " + description + " broke");
  failure.value().code = ErrorCode::kDisconnected;
  return failure;
}

SocketTransport::SocketTransport(UniqueFd socket, std::string description, bool crosses_network)
    : socket_(std::move(socket)), description_(std::move(description)), crosses_network_(crosses_network) {}

std::optional<CongestionFacts> SocketTransport::congestion() const { return crosses_network_ ? tcp_facts(socket_.get()) : std::nullopt; }

Result<std::size_t> SocketTransport::send(std::span<const ConstBytes> parts) {
  std::array<iovec, kMaxSendParts> vectors; // not initialised: only the used ones are filled in
  const std::size_t count = std::min(parts.size(), kMaxSendParts);
  for (std::size_t i = 0; i < count; ++i) {
    vectors[i] = iovec{const_cast<std::byte*>(parts[i].data()), parts[i].size()};
  }
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  for (;;) {
    const ssize_t sent = count == 1 ? ::send(socket_.get(), parts[0].data(), parts[0].size(), MSG_NOSIGNAL | MSG_DONTWAIT)
                                    : ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      return static_cast<std::size_t>(sent);
    }
    if (would_block(errno)) {
      return 0;
    }
    if (errno != EINTR) {
      return connection_error(errno, description_);
    }
  }
}

Result<std::size_t> SocketTransport::receive(MutableBytes into) {
  for (;;) {
    const ssize_t received = ::recv(socket_.get(), into.data(), into.size(), MSG_DONTWAIT);
    if (received > 0) {
      return static_cast<std::size_t>(received);
    }
    if (received == 0) {
      return fail(ErrorCode::kClosed, "the other end closed the connection " + description_);
    }
    if (would_block(errno)) {
      return 0;
    }
    if (errno != EINTR) {
      return connection_error(errno, description_);
    }
  }
}

Interest SocketTransport::wait(Interest interest, std::chrono::nanoseconds timeout, Waker* waker) {
  pollfd one{socket_.get(), 0, 0};
  one.events = static_cast<short>((has(interest, Interest::kReadable) ? POLLIN : 0) | (has(interest, Interest::kWritable) ? POLLOUT : 0));
  sleep_on(std::span(&one, 1), timeout, waker);
  if (waker != nullptr) {
    (void)waker->consume();
  }
  return to_interest(one.revents, one.revents);
}

void SocketTransport::shutdown() noexcept { ::shutdown(socket_.get(), SHUT_RDWR); }

Result<std::string> describe_socket(int socket) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &length) != 0) {
    return fail_errno(errno, "a socket without a connection");
  }
  if (peer.ss_family == AF_UNIX) {
    std::string path = path_of(peer, length);
    if (path.empty()) { // the accepting end: its own name is the one that people know
      length = sizeof peer;
      if (::getsockname(socket, reinterpret_cast<sockaddr*>(&peer), &length) == 0) {
        path = path_of(peer, length);
      }
    }
    return path.empty() ? "unix" : "unix " + path;
  }
  if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) {
    return fail(ErrorCode::kInvalid, "a connection that is neither TCP nor a Unix socket");
  }
  return describe_tcp(peer);
}

Result<SocketFacts> prepare_socket(int socket) {
  auto description = describe_socket(socket);
  if (!description) {
    return pass_on(std::move(description));
  }
  SocketFacts facts{std::move(*description), false};
  if (facts.description.starts_with("tcp")) {
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 0); // heartbeats are ours
    facts.crosses_network = crosses_network(socket);
    if (facts.crosses_network) {
      prefer_short_queues(socket);
    }
  }
  return facts;
}

Result<TransportPtr> adopt_socket(UniqueFd socket) {
  auto facts = prepare_socket(socket.get());
  if (!facts) {
    return pass_on(std::move(facts));
  }
  return std::make_unique<SocketTransport>(std::move(socket), std::move(facts->description), facts->crosses_network);
}

} // namespace farcl::net
