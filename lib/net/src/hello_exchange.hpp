// The client's half of the hello, on a connected socket.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/protocol/hello.hpp"
#include "sleep.hpp"

namespace farcl::net {

/// Sends the hello and reads exactly the reply's bytes, not one more. Fails as soon as the first bytes are not FarCL's.
/// Messages do not name the address; the caller adds it.
[[nodiscard]] Result<protocol::HelloReply> exchange_hello(int socket, const protocol::Hello& hello, Clock::time_point deadline);

} // namespace farcl::net
