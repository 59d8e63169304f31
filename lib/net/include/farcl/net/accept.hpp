// Taking connections: the daemon's side. Here descriptors are visible, because the supervisor passes them to workers.
#pragma once

#include "farcl/base/unique_fd.hpp"
#include "farcl/net/keys.hpp"
#include "farcl/net/transport.hpp"
#include "farcl/protocol/hello.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace farcl::net {

struct TcpListenAddress {
  std::string host;
  std::uint16_t port = 0; ///< 0: any free port
};
struct UnixListenAddress {
  std::string path;
  unsigned mode = 0600;
  std::string group; ///< empty: the process's own
};

/// Listening sockets, non-blocking, close-on-exec. A stale Unix socket file (nobody listens) is replaced, a living one is an error.
[[nodiscard]] Result<UniqueFd> listen_tcp(const TcpListenAddress& address);
[[nodiscard]] Result<UniqueFd> listen_unix(const UnixListenAddress& address);
/// The port that a listening TCP socket got.
[[nodiscard]] Result<std::uint16_t> bound_port(int listening_fd);
/// True when every address that the host name stands for belongs to the loopback interface.
[[nodiscard]] bool is_loopback(const std::string& host);

/// A transport over a connected socket (TCP or Unix, found out by itself) whose hello has been read.
[[nodiscard]] Result<TransportPtr> adopt_socket(UniqueFd socket);
/// The same, encrypted: returns when the client has proved the key (net::one_time_key of its hello), or has not in time.
[[nodiscard]] Result<TransportPtr> accept_encrypted(UniqueFd socket, const Secret& one_time_key, std::chrono::milliseconds timeout);
/// The answer to a hello. Waits for at most a second for room.
[[nodiscard]] Status send_hello_reply(Transport& transport, const protocol::HelloReply& reply);
/// A transport through shared memory, for a client of a connected Unix socket that takes it: the reply to its hello is what is sent
/// first, and takes the descriptors of the rings and of `buffers` (memory for data; -1: none) along. A failure leaves the socket alone.
[[nodiscard]] Result<TransportPtr> adopt_socket_with_rings(UniqueFd& socket, int buffers);
/// A transport over two pipes, for `farcld --stdio`.
[[nodiscard]] TransportPtr adopt_pipes(UniqueFd read_end, UniqueFd write_end);

/// Sends and receives descriptors with a few bytes over a Unix socket pair (SCM_RIGHTS).
[[nodiscard]] Status send_with_fds(int socket, ConstBytes bytes, std::span<const int> fds);
struct ReceivedWithFds {
  std::size_t size_bytes = 0; ///< 0: the peer closed
  std::vector<UniqueFd> fds;
};
/// `flags`: of recvmsg. kTimeout: nothing has come.
[[nodiscard]] Result<ReceivedWithFds> receive_with_fds(int socket, MutableBytes into, std::size_t max_fds, int flags = 0);

} // namespace farcl::net
