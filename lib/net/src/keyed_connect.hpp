// The client's half of a connection that is encrypted with a key.
#pragma once

#include "farcl/base/unique_fd.hpp"
#include "farcl/net/connect.hpp"
#include "sleep.hpp"

namespace farcl::net {

/// Sends the hello with the key's seal and, without waiting for an answer, the first message of TLS; then the reply comes encrypted.
/// In the clear only a refusal is taken, and as a reply only one that the key's owner has sealed: a server that has no keys, or somebody in
/// between, cannot make the client talk in the clear, and cannot declare a session dead.
[[nodiscard]] Result<Connection> connect_with_key(UniqueFd socket, protocol::Hello hello, const Key& key, Clock::time_point deadline);

} // namespace farcl::net
