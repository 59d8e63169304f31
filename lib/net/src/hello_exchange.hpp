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
  protocol::HelloReplyBytes bytes{}; ///< the same, as it came
  std::vector<UniqueFd> fds;         ///< that came with it
};

// Messages do not name the address; the caller adds it.

/// The bytes of a hello: with a nonce of its own, and for a resumed session with a proof of its secret in the secret's place.
[[nodiscard]] Result<protocol::HelloBytes> prepare_hello(const protocol::Hello& hello);
[[nodiscard]] Status send_hello(int socket, const protocol::HelloBytes& hello, Clock::time_point deadline);
/// Reads exactly the reply's bytes, not one more. Fails as soon as the first bytes are not FarCL's.
[[nodiscard]] Result<HelloAnswer> receive_hello_reply(int socket, Clock::time_point deadline);
/// The one after the other.
[[nodiscard]] Result<HelloAnswer> exchange_hello(int socket, const protocol::Hello& hello, Clock::time_point deadline);

} // namespace farcl::net
