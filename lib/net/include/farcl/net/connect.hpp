// Making connections: the client's side.
#pragma once

#include "farcl/base/config.hpp"
#include "farcl/base/shared_region.hpp"
#include "farcl/net/address.hpp"
#include "farcl/net/keys.hpp"
#include "farcl/net/transport.hpp"
#include "farcl/protocol/hello.hpp"

#include <chrono>
#include <functional>

namespace farcl::net {

struct ConnectOptions {
  std::chrono::milliseconds timeout{1000}; ///< for everything: name resolution, connection, hello and its reply
  bool shared_memory = true;               ///< FARCL_SHARED_MEMORY: take it over a Unix socket
  std::string ssh_command = "ssh";         ///< FARCL_SSH: program and arguments, separated by spaces
  std::string ssh_daemon = "farcld";       ///< FARCL_SSH_DAEMON
  KeyPtr key;                              ///< for TCP: the connection is encrypted with it, or not made; null: in the clear
};
/// The options as the user has set them, with the key that is meant for this server.
[[nodiscard]] Result<ConnectOptions> connect_options(const Config& config, const ServerAddress& address);

struct Connection {
  TransportPtr transport;
  protocol::HelloReply reply;
  SharedRegion buffers; ///< memory for data, of a server on this machine; may be none
};

/// Connects, sends the hello and waits for its reply. Never takes longer than the timeout (name resolution runs on a thread
/// that is left behind if it hangs). Any reply is a success; look at its status. Errors name the address and what to do:
/// kTimeout, kDisconnected (refused, reset: the message says which), kInvalid (the other side does not speak FarCL), kRefused (with a
/// key: what answers does not have it). A refusal that somebody else could have made is an error too, and no reply.
/// Starts no thread that outlives it, except as said; opens every descriptor close-on-exec; raises no SIGPIPE.
[[nodiscard]] Result<Connection> connect(const ServerAddress& address, const protocol::Hello& hello, const ConnectOptions& options);

/// What the driver uses to reach a server; tests put loopback transports here.
using Connector = std::function<Result<Connection>(const protocol::Hello& hello)>;

} // namespace farcl::net
