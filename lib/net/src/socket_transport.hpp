// Transport over one connected stream socket: TCP or Unix.
#pragma once

#include "farcl/base/unique_fd.hpp"
#include "farcl/net/transport.hpp"

namespace farcl::net {

class SocketTransport : public Transport {
public:
  /// `crosses_network`: a TCP connection to another machine, about which the kernel has something to tell.
  SocketTransport(UniqueFd socket, std::string description, bool crosses_network = false);

  Result<std::size_t> send(std::span<const ConstBytes> parts) override;
  Result<std::size_t> receive(MutableBytes into) override;
  Interest wait(Interest interest, std::chrono::nanoseconds timeout, Waker* waker) override;
  void shutdown() noexcept override;
  [[nodiscard]] std::optional<CongestionFacts> congestion() const override;
  [[nodiscard]] std::string description() const override { return description_; }

protected:
  /// For destructors of derived classes: nothing else may be called afterwards.
  void close() noexcept { socket_.reset(); }

private:
  // Closed by the destructor only, and without a shutdown(): a forked child drops its copy without harm to the parent's.
  UniqueFd socket_;
  std::string description_;
  bool crosses_network_;
};

/// A connected socket, made ready for our ways of using it.
struct SocketFacts {
  std::string description;
  bool crosses_network = false;
};
[[nodiscard]] Result<SocketFacts> prepare_socket(int socket);

/// For people: "unix /run/farcl.sock", "tcp 127.0.0.1:32725"; of a connected socket.
[[nodiscard]] Result<std::string> describe_socket(int socket);

/// What poll found, in the words of Transport::wait.
[[nodiscard]] Interest to_interest(short read_events, short write_events);
/// The failure of a send or receive, by errno.
[[nodiscard]] tl::unexpected<Error> connection_error(int error_number, const std::string& description);

} // namespace farcl::net
