#include "tls_session.hpp"

#include "crypto.hpp"

#include <cstring>

namespace farcl::net {

namespace {
constexpr std::string_view kIdentity = "farcl";                ///< the same for all: the hello has said which key it is
constexpr std::array<unsigned char, 2> kCipher = {0x13, 0x01}; ///< TLS_AES_128_GCM_SHA256: what a key of our kind goes with
/// Several records at once where there are several.
constexpr std::size_t kReadBufferBytes = 4 * (SSL3_RT_MAX_PLAIN_LENGTH + 256);

/// The key in the shape that TLS takes it: as the secret of a session that both ends remember. Null: no memory.
SSL_SESSION* session_of(SSL* ssl) {
  const auto* key = static_cast<const Secret*>(SSL_get_app_data(ssl));
  SSL_SESSION* session = key == nullptr ? nullptr : SSL_SESSION_new();
  if (session != nullptr && SSL_SESSION_set1_master_key(session, key->bytes.data(), key->bytes.size()) == 1 &&
      SSL_SESSION_set_cipher(session, SSL_CIPHER_find(ssl, kCipher.data())) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1) {
    return session;
  }
  SSL_SESSION_free(session);
  return nullptr;
}

int offer_key(SSL* ssl, const EVP_MD* hash, const unsigned char** identity, std::size_t* identity_size, SSL_SESSION** session) {
  *session = nullptr;
  if (hash != nullptr && EVP_MD_is_a(hash, "SHA256") == 0) {
    return 1; // the server wants a hash that the key does not go with: nothing is offered, and the handshake fails
  }
  *identity = reinterpret_cast<const unsigned char*>(kIdentity.data());
  *identity_size = kIdentity.size();
  *session = session_of(ssl);
  return *session != nullptr ? 1 : 0;
}

int find_key(SSL* ssl, const unsigned char* identity, std::size_t identity_size, SSL_SESSION** session) {
  *session = nullptr;
  if (identity_size != kIdentity.size() || std::memcmp(identity, kIdentity.data(), identity_size) != 0) {
    return 1; // unknown: the handshake fails, since there is no certificate either
  }
  *session = session_of(ssl);
  return *session != nullptr ? 1 : 0;
}

SSL_CTX* make_context(TlsRole role) {
  prepare_openssl();
  SSL_CTX* const context = SSL_CTX_new(role == TlsRole::kClient ? TLS_client_method() : TLS_server_method());
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") != 1 ||
      SSL_CTX_set1_groups_list(context, "X25519:P-256") != 1 || SSL_CTX_set_num_tickets(context, 0) != 1) {
    SSL_CTX_free(context);
    return nullptr;
  }
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_ENABLE_KTLS | SSL_OP_NO_TICKET);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (role == TlsRole::kClient) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr); // no authority is trusted: a certificate connects nobody
  }
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, kReadBufferBytes);
  SSL_CTX_set_psk_use_session_callback(context, offer_key);
  SSL_CTX_set_psk_find_session_callback(context, find_key);
  return context;
}

/// Made once and kept: a driver frees nothing at the end of its host's process.
SSL_CTX* context_of(TlsRole role) {
  static SSL_CTX* const client = make_context(TlsRole::kClient);
  static SSL_CTX* const server = make_context(TlsRole::kServer);
  return role == TlsRole::kClient ? client : server;
}
} // namespace

Result<SslPtr> make_tls_session(TlsRole role, const Secret* key) {
  SSL_CTX* const context = context_of(role);
  SslPtr ssl(context == nullptr ? nullptr : SSL_new(context));
  if (!ssl) {
    return fail(ErrorCode::kOutOfMemory, "no encryption: " + openssl_reason());
  }
  SSL_set_app_data(ssl.get(), const_cast<Secret*>(key));
  role == TlsRole::kClient ? SSL_set_connect_state(ssl.get()) : SSL_set_accept_state(ssl.get());
  return ssl;
}

bool was_keyed(const SSL* ssl) noexcept { return SSL_is_init_finished(ssl) != 0 && SSL_session_reused(ssl) == 1; }

} // namespace farcl::net
