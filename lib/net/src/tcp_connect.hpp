// TCP connections within a time limit, to whichever address of a host answers.
#pragma once

#include "farcl/base/unique_fd.hpp"
#include "resolve.hpp"

namespace farcl::net {

/// Connects to the first address that answers; the next one is tried as soon as one fails, and beside it when it is silent.
/// Fails with kDisconnected (system_errno: of the last failure) or kTimeout.
[[nodiscard]] Result<UniqueFd> connect_tcp(const std::vector<SocketAddress>& addresses, Clock::time_point deadline);

} // namespace farcl::net
