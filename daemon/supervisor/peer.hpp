// Who is at the other end of an accepted socket, for the log and for fairness.
#pragma once

#include <string>

namespace farcl::daemon {

struct Peer {
  std::string text;   ///< "127.0.0.1:5555", "[::1]:5555", "process 4711 of user 1000"
  std::string source; ///< what connections of the same origin have in common: the IPv4 address, the IPv6 network (/64), the user
  bool over_tcp = false;
};

[[nodiscard]] Peer describe_peer(int connected_socket);

} // namespace farcl::daemon
