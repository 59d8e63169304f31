// One end of a TLS 1.3 connection with a key that both ends have already (an external PSK), as OpenSSL's object.
//
// No certificates, no tickets, no data before the handshake, and always a fresh Diffie-Hellman exchange: whoever gets hold of the key
// later can read nothing that was recorded. An end that does not prove the key is not connected, whatever else it has.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/net/keys.hpp"

#include <memory>
#include <openssl/ssl.h>

namespace farcl::net {

enum class TlsRole { kClient, kServer };

struct SslFreer {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
};
using SslPtr = std::unique_ptr<SSL, SslFreer>;

/// `key` must stay where it is until the handshake is over. Without a socket yet: see attach_socket.
[[nodiscard]] Result<SslPtr> make_tls_session(TlsRole role, const Secret* key);
/// After the handshake: true when it was the key that connected the two, and not something else that TLS knows.
[[nodiscard]] bool was_keyed(const SSL* ssl) noexcept;

/// Between a transport and OpenSSL's view of its socket.
struct SocketState {
  int socket = -1;
  bool shaking_hands = true;    ///< whether the kernel encrypts is being decided, and asked each time
  bool kernel_encrypts = false; ///< else, what was found
  bool kernel_decrypts = false;
  bool closed_for_reading = false; ///< nothing is read, as if nothing had come
  bool more_follows = false;       ///< what is written is followed by more at once: the network may wait for it
  bool drained = false;            ///< the last read found less than there was room for
};
/// Lets the session use a non-blocking socket, without signals when the other end has gone. It owns neither socket nor state.
[[nodiscard]] bool attach_socket(SSL* ssl, int socket, SocketState& state) noexcept;
/// The handshake is over: notes what the kernel does from now on.
void note_kernel_tls(const SSL* ssl, SocketState& state) noexcept;

} // namespace farcl::net
