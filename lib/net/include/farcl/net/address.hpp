// Server addresses, the way people name them (docs/users.md, "Naming servers").
#pragma once

#include "farcl/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farcl::net {

inline constexpr std::uint16_t kDefaultPort = 32725;
inline constexpr std::size_t kMaxServers = 256;

enum class Scheme { kTcp, kUnix, kSsh };

struct ServerAddress {
  Scheme scheme = Scheme::kTcp;
  std::string host;                    ///< tcp, ssh: name or address, without brackets
  std::uint16_t port = kDefaultPort;   ///< tcp; ssh: 0 means ssh's own choice
  std::string user;                    ///< ssh; may be empty
  std::string path;                    ///< unix
  std::optional<std::uint32_t> device; ///< "/2": only that device
  std::string peer_host;               ///< "#host:port": the address that other servers should use
  std::uint16_t peer_port = 0;
  std::string text; ///< as the user wrote it, for messages

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

/// One entry: host, host:port, [v6]:port, host:port/2, host:port#peer-host:port, unix:/path, ssh://user@host[:port].
/// rdma://, auto and slurm are understood and answered with kUnsupported and a sentence.
[[nodiscard]] Result<ServerAddress> parse_server_address(std::string_view text);

struct ServerList {
  std::vector<ServerAddress> servers;
  std::vector<std::string> complaints; ///< one sentence per entry that could not be understood; the others are used
};
/// Entries separated by commas or white space; "@/path" names a file with one entry per line (# starts a comment).
[[nodiscard]] ServerList parse_server_list(std::string_view text);

} // namespace farcl::net
