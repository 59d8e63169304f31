#include "daemon/supervisor/peer.hpp"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <sys/socket.h>

namespace farcl::daemon {

namespace {
Peer describe_unix(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return {"a Unix socket", "unix"};
  }
  return {"process " + std::to_string(who.pid) + " of user " + std::to_string(who.uid), "user " + std::to_string(who.uid)};
}
} // namespace

Peer describe_peer(int connected_socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(connected_socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return {"a peer that has gone", "gone"};
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return {std::string(text.data()) + ":" + std::to_string(ntohs(v4.sin_port)), text.data()};
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return {"[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6.sin6_port)), text.data()};
  }
  return describe_unix(connected_socket);
}

} // namespace farcl::daemon
