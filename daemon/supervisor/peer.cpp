#include "daemon/supervisor/peer.hpp"

#include <algorithm>
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

std::string source_of(const in6_addr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&address) != 0) { // what comes to [::] by IPv4
    ::inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
    return text.data();
  }
  in6_addr network = address; // whoever has one address of it can have them all
  std::fill_n(&network.s6_addr[8], 8, std::uint8_t{0});
  ::inet_ntop(AF_INET6, &network, text.data(), text.size());
  return text.data();
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
    return {std::string(text.data()) + ":" + std::to_string(ntohs(v4.sin_port)), text.data(), true};
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return {"[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6.sin6_port)), source_of(v6.sin6_addr), true};
  }
  return describe_unix(connected_socket);
}

} // namespace farcl::daemon
