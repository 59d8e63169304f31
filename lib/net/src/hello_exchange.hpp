// The client's half of the hello, on a connected socket.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/protocol/hello.hpp"
#include "sleep.hpp"

#include <vector>

namespace farcl::net {

struct HelloAnswer {
  protocol::HelloReply reply;
  std::vector<UniqueFd> fds; ///< that came with it
};

/// Sends the hello and reads exactly the reply's bytes, not one more. Fails as soon as the first bytes are not FarCL's.
/// Messages do not name the address; the caller adds it.
[[nodiscard]] Result<HelloAnswer> exchange_hello(int socket, const protocol::Hello& hello, Clock::time_point deadline);

} // namespace farcl::net
