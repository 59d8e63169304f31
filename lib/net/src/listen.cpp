#include "farcl/net/accept.hpp"

#include "name_rules.hpp"
#include "resolve.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <grp.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>

namespace farcl::net {

namespace {
constexpr int kBacklog = 512;
constexpr auto kResolveTimeout = std::chrono::seconds(10);
constexpr auto kLockTimeout = std::chrono::seconds(2);
constexpr auto kLookEvery = std::chrono::milliseconds(5);

bool is_loopback_address(const SocketAddress& address) {
  if (address.storage.ss_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr.s_addr) >> 24) == 127;
  }
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

/// Two daemons that start at once must not take each other's socket file for a stale one. The lock is on the folder, so that
/// no lock file is left behind.
Result<UniqueFd> lock_folder(const std::filesystem::path& socket_path) {
  const auto folder = socket_path.has_parent_path() ? socket_path.parent_path() : std::filesystem::path(".");
  UniqueFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock) {
    return fail_errno(errno, "the folder " + folder.string() + " of the Unix socket");
  }
  for (const auto deadline = Clock::now() + kLockTimeout; ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0;) {
    if (Clock::now() >= deadline) {
      return fail(ErrorCode::kTimeout, "another program keeps the folder " + folder.string() + " locked");
    }
    std::this_thread::sleep_for(kLookEvery);
  }
  return lock;
}

/// Removes a socket file that nobody listens on.
Status remove_stale(const sockaddr_un& name, const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? Status{} : Status(fail_errno(errno, path));
  }
  if (!S_ISSOCK(info.st_mode)) {
    return fail(ErrorCode::kInvalid, path + " exists and is no socket");
  }
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 || errno != ECONNREFUSED) {
    return fail(ErrorCode::kRefused, "another server is listening on " + path);
  }
  return ::unlink(path.c_str()) == 0 ? Status{} : Status(fail_errno(errno, "the old socket " + path));
}

Status set_owner_and_mode(const UnixListenAddress& address) {
  if (!address.group.empty()) {
    const ::group* group = ::getgrnam(address.group.c_str());
    if (group == nullptr) {
      return fail(ErrorCode::kInvalid, "there is no group " + address.group);
    }
    if (::chown(address.path.c_str(), static_cast<uid_t>(-1), group->gr_gid) != 0) {
      return fail_errno(errno, "the group of " + address.path);
    }
  }
  if (::chmod(address.path.c_str(), address.mode) != 0) {
    return fail_errno(errno, "the mode of " + address.path);
  }
  return {};
}
} // namespace

Result<UniqueFd> listen_tcp(const TcpListenAddress& address) {
  auto addresses = resolve(address.host.empty() ? "0.0.0.0" : address.host, address.port, Clock::now() + kResolveTimeout);
  if (!addresses) {
    return pass_on(std::move(addresses));
  }
  const SocketAddress& first = addresses->front();
  const std::string name = address.host + ":" + std::to_string(address.port);
  UniqueFd socket(::socket(first.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) {
    return fail_errno(errno, name);
  }
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&first.storage), first.length) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    return fail_errno(errno, "cannot listen on " + name);
  }
  return socket;
}

Result<UniqueFd> listen_unix(const UnixListenAddress& address) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (address.path.empty() || address.path.size() > kMaxUnixPathBytes || (address.mode & ~0777u) != 0) {
    return fail(ErrorCode::kInvalid,
                "a Unix socket needs a path of at most " + std::to_string(kMaxUnixPathBytes) + " bytes and a mode like 0660");
  }
  std::memcpy(name.sun_path, address.path.data(), address.path.size());
  auto lock = lock_folder(address.path);
  if (!lock) {
    return lock;
  }
  if (auto status = remove_stale(name, address.path); !status) {
    return pass_on(std::move(status));
  }
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // The file is made with this mode: nobody else can reach it before it has its own.
  if (!socket || ::fchmod(socket.get(), 0600) != 0 || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    return fail_errno(errno, "cannot listen on " + address.path);
  }
  Status status = set_owner_and_mode(address);
  if (status && ::listen(socket.get(), kBacklog) != 0) {
    status = fail_errno(errno, "cannot listen on " + address.path);
  }
  if (!status) {
    ::unlink(address.path.c_str());
    return pass_on(std::move(status));
  }
  return socket;
}

Result<std::uint16_t> bound_port(int listening_fd) {
  SocketAddress address;
  address.length = sizeof address.storage;
  if (::getsockname(listening_fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) {
    return fail_errno(errno, "the port of a listening socket");
  }
  switch (address.storage.ss_family) {
  case AF_INET: return ntohs(reinterpret_cast<const sockaddr_in&>(address.storage).sin_port);
  case AF_INET6: return ntohs(reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_port);
  default: return fail(ErrorCode::kInvalid, "a Unix socket has no port");
  }
}

bool is_loopback(const std::string& host) {
  if (host.empty()) {
    return false; // every interface
  }
  const auto addresses = resolve(host, 0, Clock::now() + kResolveTimeout);
  return addresses && std::all_of(addresses->begin(), addresses->end(), is_loopback_address);
}

} // namespace farcl::net
