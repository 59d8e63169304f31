// Host names to addresses within a time limit.
#pragma once

#include "farcl/base/result.hpp"
#include "sleep.hpp"

#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace farcl::net {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};
inline constexpr std::size_t kMaxResolvedAddresses = 16; ///< of one name; more are not tried

/// The addresses of `host` (name or number) in the order in which they should be tried. A number takes no time; a name is
/// resolved on a thread that is left behind if the system's resolver has not answered by the deadline.
[[nodiscard]] Result<std::vector<SocketAddress>> resolve(const std::string& host, std::uint16_t port, Clock::time_point deadline);

} // namespace farcl::net
