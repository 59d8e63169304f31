#include "crypto.hpp"

#include <cerrno>
#include <mutex>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <sys/random.h>

namespace farcl::net {

namespace {
constexpr std::size_t kBase64Bytes = 44; ///< of 32 bytes

template <class T, auto kFree>
struct Freer {
  void operator()(T* object) const noexcept { kFree(object); }
};
using KdfPtr = std::unique_ptr<EVP_KDF, Freer<EVP_KDF, EVP_KDF_free>>;
using KdfContextPtr = std::unique_ptr<EVP_KDF_CTX, Freer<EVP_KDF_CTX, EVP_KDF_CTX_free>>;

/// Label, a zero, and the parts: what is authenticated, or what a key is derived for.
std::vector<std::uint8_t> labelled(std::string_view label, std::initializer_list<ConstBytes> parts) {
  std::vector<std::uint8_t> all(label.begin(), label.end());
  all.push_back(0);
  for (const ConstBytes part : parts) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(part.data());
    all.insert(all.end(), bytes, bytes + part.size());
  }
  return all;
}
} // namespace

void prepare_openssl() {
  static std::once_flag once;
  std::call_once(once, [] {
    // A driver in somebody else's process: no file decides what it does, and exit() finds nothing of it.
    FARCL_ASSERT(OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) == 1);
  });
}

// A failure of these is want of memory or a broken build of OpenSSL, never anything that came from outside.
Digest authenticate(const Secret& key, std::string_view label, std::initializer_list<ConstBytes> parts) {
  prepare_openssl();
  const auto input = labelled(label, parts);
  Digest digest{};
  std::size_t size = 0;
  FARCL_ASSERT(EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, key.bytes.data(), key.bytes.size(), input.data(), input.size(),
                         digest.data(), digest.size(), &size) != nullptr &&
               size == digest.size());
  return digest;
}

Secret derive(const Secret& key, std::string_view label, ConstBytes context) {
  prepare_openssl();
  auto info = labelled(label, {context});
  const KdfPtr hkdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  const KdfContextPtr work(EVP_KDF_CTX_new(hkdf.get()));
  char digest[] = "SHA256";
  auto secret = key;
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
                                   OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.bytes.data(), secret.bytes.size()),
                                   OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()), OSSL_PARAM_END};
  Secret derived;
  FARCL_ASSERT(work && EVP_KDF_derive(work.get(), derived.bytes.data(), derived.bytes.size(), parameters) == 1);
  return derived;
}

bool are_equal(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Status fill_randomly(std::span<std::uint8_t> bytes) {
  // Up to 256 bytes come whole once the system has started.
  return ::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()) ? Status{}
                                                                                          : fail_errno(errno, "no random numbers");
}

std::string to_base64(const Secret& secret) {
  std::array<unsigned char, kBase64Bytes + 1> text{};
  EVP_EncodeBlock(text.data(), secret.bytes.data(), static_cast<int>(secret.bytes.size()));
  return {reinterpret_cast<const char*>(text.data()), kBase64Bytes};
}

Result<Secret> from_base64(std::string_view text) {
  std::array<std::uint8_t, kBase64Bytes / 4 * 3> bytes{};
  if (text.size() != kBase64Bytes ||
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size())) < 0) {
    return fail(ErrorCode::kInvalid, "a secret is 44 characters of base64");
  }
  Secret secret;
  std::copy_n(bytes.begin(), secret.bytes.size(), secret.bytes.begin());
  ::explicit_bzero(bytes.data(), bytes.size());
  // One text for one secret: neither blanks, nor bits behind the last byte.
  return to_base64(secret) == text ? Result<Secret>(secret) : fail(ErrorCode::kInvalid, "a secret is 44 characters of base64");
}

std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "no reason was given" : reason;
}

} // namespace farcl::net
