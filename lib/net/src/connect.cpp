#include "farcl/net/connect.hpp"

#include "farcl/net/accept.hpp"
#include "hello_exchange.hpp"
#include "keyed_connect.hpp"
#include "resolve.hpp"
#include "ring_transport.hpp"
#include "socket_transport.hpp"
#include "ssh_process.hpp"
#include "tcp_connect.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

namespace farcl::net {

namespace {
constexpr std::chrono::milliseconds kLeastSshTimeout = std::chrono::seconds(10); ///< ssh logs in, and may cross the world
constexpr auto kFullQueuePause = std::chrono::milliseconds(1);

/// Adds the address, as the user wrote it, and advice for the usual mistakes.
Error explain(Error error, const ServerAddress& address) {
  error.message = address.text + ": " + error.message;
  const bool nobody_there = error.system_errno == ECONNREFUSED || (address.scheme == Scheme::kUnix && error.system_errno == ENOENT);
  if (nobody_there) {
    error.message += "; is farcld running there?";
  } else if (error.code == ErrorCode::kTimeout) {
    error.message += "; FARCL_CONNECT_TIMEOUT_MS sets how long FarCL waits";
  }
  return error;
}

Result<UniqueFd> connect_unix(const std::string& path, Clock::time_point deadline) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof name.sun_path) {
    return fail(ErrorCode::kInvalid, "a Unix socket needs a path below " + std::to_string(sizeof name.sun_path) + " bytes");
  }
  std::memcpy(name.sun_path, path.data(), path.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) {
    return fail_errno(errno, "no socket could be made");
  }
  while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    const int error = errno;
    if (error == EAGAIN && Clock::now() < deadline) {
      std::this_thread::sleep_for(kFullQueuePause); // the listener's queue is full, and nothing tells when it is not
    } else if (error != EINTR) {
      auto failure = fail_errno(error, "no connection");
      failure.value().code = error == EAGAIN ? ErrorCode::kTimeout : ErrorCode::kDisconnected;
      return failure;
    }
  }
  return socket;
}

Result<UniqueFd> connect_network(const ServerAddress& address, Clock::time_point deadline) {
  auto addresses = resolve(address.host, address.port, deadline);
  if (!addresses) {
    return pass_on(std::move(addresses));
  }
  return connect_tcp(*addresses, deadline);
}

/// Data memory that cannot be mapped here (a small address space) is done without.
SharedRegion open_buffers(UniqueFd memory) {
  auto region = SharedRegion::open(std::move(memory), 1, std::numeric_limits<std::uint64_t>::max());
  if (!region) {
    return {};
  }
  region->keep_from_children();
  return std::move(*region);
}

/// Through shared memory when the server has offered it, else the socket itself.
Result<Connection> adopt(UniqueFd socket, HelloAnswer answer) {
  auto transport = answer.fds.empty() ? adopt_socket(std::move(socket)) : open_rings(std::move(socket), std::move(answer.fds.front()));
  if (!transport) {
    return pass_on(std::move(transport));
  }
  Connection connection{std::move(*transport), std::move(answer.reply), {}};
  if (answer.fds.size() > 1) {
    connection.buffers = open_buffers(std::move(answer.fds[1]));
  }
  return connection;
}

Result<Connection> connect_socket(const ServerAddress& address, protocol::Hello hello, const ConnectOptions& options,
                                  Clock::time_point deadline) {
  const bool is_unix = address.scheme == Scheme::kUnix;
  hello.capabilities |= is_unix && options.shared_memory ? protocol::kTakesSharedMemory : 0;
  auto socket = is_unix ? connect_unix(address.path, deadline) : connect_network(address, deadline);
  if (!socket) {
    return pass_on(std::move(socket));
  }
  if (!is_unix && options.key != nullptr) {
    return connect_with_key(std::move(*socket), hello, *options.key, deadline);
  }
  auto answer = exchange_hello(socket->get(), hello, deadline);
  if (!answer) {
    return pass_on(std::move(answer));
  }
  return adopt(std::move(*socket), std::move(*answer));
}

/// The socket to ssh, and the ssh process, which ends after it.
class SshTransport final : public SocketTransport {
public:
  SshTransport(SshConnection connection, std::string description)
      : SocketTransport(std::move(connection.socket), std::move(description)), process_(std::move(connection.process)) {}
  ~SshTransport() override { close(); }

private:
  ChildProcess process_;
};

Result<Connection> connect_ssh(const ServerAddress& address, const protocol::Hello& hello, const ConnectOptions& options,
                               Clock::time_point deadline) {
  auto arguments = ssh_arguments(address, options);
  if (!arguments) {
    return pass_on(std::move(arguments));
  }
  auto ssh = start_ssh(*arguments);
  if (!ssh) {
    return pass_on(std::move(ssh));
  }
  auto reply = exchange_hello(ssh->socket.get(), hello, deadline);
  if (!reply) {
    ssh->socket.reset();
    const int status = ssh->process.end();
    Error error = std::move(reply).error();
    if (error.code == ErrorCode::kDisconnected) {
      error.message = explain_ssh_end(status, options);
    }
    return tl::unexpected<Error>(std::move(error));
  }
  return Connection{std::make_unique<SshTransport>(std::move(*ssh), "ssh " + address.host), std::move(reply->reply), {}};
}
} // namespace

Result<ConnectOptions> connect_options(const Config& config, const ServerAddress& address) {
  ConnectOptions options;
  options.timeout = std::chrono::milliseconds(config.connect_timeout_ms);
  options.shared_memory = config.shared_memory != 0;
  options.ssh_command = config.ssh;
  options.ssh_daemon = config.ssh_daemon;
  auto key = key_for(address, config.key_file);
  if (!key) {
    return pass_on(std::move(key));
  }
  options.key = std::move(*key);
  return options;
}

Result<Connection> connect(const ServerAddress& address, const protocol::Hello& hello, const ConnectOptions& options) {
  const bool by_ssh = address.scheme == Scheme::kSsh;
  const auto deadline = deadline_after(by_ssh ? std::max(options.timeout, kLeastSshTimeout) : options.timeout);
  auto connection = by_ssh ? connect_ssh(address, hello, options, deadline) : connect_socket(address, hello, options, deadline);
  if (!connection) {
    return tl::unexpected<Error>(explain(std::move(connection).error(), address));
  }
  return connection;
}

} // namespace farcl::net
