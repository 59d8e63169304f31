// What makes a hello in the clear trustworthy: codes of authentication over its bytes (HMAC-SHA256), and the one-time key for the
// encryption that follows it. The supervisor and the client use the same functions; nobody else sees a key.
//
// Every use of a secret has a label of its own, so that a code made for one purpose proves nothing for another one: what a client
// has sent cannot be sent back to it as an answer.
#pragma once

#include "farcl/net/keys.hpp"
#include "farcl/protocol/hello.hpp"

namespace farcl::net {

/// Of a session: from its first reply, known to its client and the server only.
using SessionSecret = std::array<std::uint8_t, 32>;

/// Random bytes that no other hello has.
[[nodiscard]] Result<protocol::HelloNonce> make_nonce();

/// Writes the proof that its sender knows the session's secret. Before seal_hello.
void prove_session(protocol::HelloBytes& hello, const SessionSecret& secret);
[[nodiscard]] bool proves_session(const protocol::HelloBytes& hello, const SessionSecret& secret);

/// Writes the code by `key` over everything else. Last.
void seal_hello(protocol::HelloBytes& hello, const Key& key);
[[nodiscard]] bool is_sealed_by(const protocol::HelloBytes& hello, const Key& key);

/// The same for a refusal in the clear, so that nobody but the key's owner can refuse in the server's name.
void seal_reply(protocol::HelloReplyBytes& reply, const protocol::HelloBytes& hello, const Key& key);
[[nodiscard]] bool is_sealed_by(const protocol::HelloReplyBytes& reply, const protocol::HelloBytes& hello, const Key& key);

/// For the encryption of this one connection. Both ends make it from the whole hello, so that a hello that was changed on its way leads
/// nowhere; and knowing it tells nothing about the key.
[[nodiscard]] Secret one_time_key(const Key& key, const protocol::HelloBytes& hello);

} // namespace farcl::net
