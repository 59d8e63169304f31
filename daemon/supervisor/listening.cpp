#include "daemon/supervisor/listening.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace farcl::daemon {

UnixSocketFile::UnixSocketFile(std::string path) : path_(std::move(path)) {
  struct stat about{};
  if (::lstat(path_.c_str(), &about) == 0) {
    device_ = about.st_dev;
    inode_ = about.st_ino;
  }
}

UnixSocketFile::~UnixSocketFile() {
  struct stat about{};
  if (!path_.empty() && ::lstat(path_.c_str(), &about) == 0 && about.st_dev == device_ && about.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

namespace {
using Clock = std::chrono::steady_clock;
inline constexpr std::chrono::milliseconds kWaitForPredecessor{500};
inline constexpr std::chrono::milliseconds kTryAgainAfter{10};

bool is_taken(const Error& error) { return error.code == ErrorCode::kRefused || error.system_errno == EADDRINUSE; }

/// A farcld that was killed this very moment may still be going away, and its children with it.
template <class Listen>
Result<UniqueFd> listen_patiently(const Listen& listen) {
  const auto deadline = Clock::now() + kWaitForPredecessor;
  auto socket = listen();
  while (!socket && is_taken(socket.error()) && Clock::now() < deadline) {
    std::this_thread::sleep_for(kTryAgainAfter);
    socket = listen();
  }
  return socket;
}

Status check_exposure(const Options& options, Listening& listening) {
  for (const auto& address : options.listen) {
    if (net::is_loopback(address.host)) {
      continue;
    }
    if (!options.keys_file.empty()) {
      continue;
    }
    if (!options.insecure) {
      return fail(ErrorCode::kRefused,
                  "--listen " + to_text(address) +
                      " would let every machine that reaches it run programs here. Make a key with "
                      "'farcl keygen --out FILE' and add --keys FILE, or leave --listen out and let clients come through "
                      "ssh (POCL_REMOTE_SERVERS=ssh://this-host), or add --insecure if you trust everybody on that network");
    }
    listening.exposed = true;
  }
  return {};
}

Status open_tcp(const Options& options, const Logger& logger, Listening& listening) {
  for (net::TcpListenAddress address : options.listen) {
    auto socket = listen_patiently([&] { return net::listen_tcp(address); });
    if (!socket) {
      if (options.default_listen) {
        logger.warn("not listening on " + to_text(address) + ": " + socket.error().message);
        continue;
      }
      return pass_on(std::move(socket));
    }
    if (auto port = net::bound_port(socket->get())) {
      address.port = *port;
    }
    listening.sockets.push_back({std::move(*socket), to_text(address)});
  }
  return {};
}
} // namespace

Result<Listening> open_listening(const Options& options, const Logger& logger) {
  Listening listening;
  if (auto status = check_exposure(options, listening); !status) {
    return pass_on(std::move(status));
  }
  if (auto status = open_tcp(options, logger, listening); !status) {
    return pass_on(std::move(status));
  }
  for (const auto& address : options.unix_sockets) {
    auto socket = listen_patiently([&] { return net::listen_unix(address); });
    if (!socket) {
      return pass_on(std::move(socket));
    }
    listening.files.emplace_back(address.path);
    listening.sockets.push_back({std::move(*socket), "unix:" + address.path});
  }
  if (listening.sockets.empty() && !options.stdio) {
    return fail(ErrorCode::kSystem, "there is no address left to listen on");
  }
  return listening;
}

} // namespace farcl::daemon
