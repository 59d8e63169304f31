#include "farcl/net/hello_seal.hpp"

#include "crypto.hpp"

#include <cstring>

namespace farcl::net {

namespace {
using protocol::HelloBytes;
using protocol::HelloReplyBytes;

constexpr std::string_view kSessionLabel = "farcl 1 session";
constexpr std::string_view kHelloLabel = "farcl 1 hello";
constexpr std::string_view kReplyLabel = "farcl 1 reply";
constexpr std::string_view kOneTimeLabel = "farcl 1 one-time key";

template <class Bytes>
Bytes without(const Bytes& bytes, std::size_t at) {
  Bytes copy = bytes;
  std::memset(copy.data() + at, 0, protocol::kMacBytes);
  return copy;
}

template <class Bytes>
std::span<const std::uint8_t> code_at(const Bytes& bytes, std::size_t at) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()) + at, protocol::kMacBytes};
}

Digest proof_of(const HelloBytes& hello, const SessionSecret& secret) {
  const HelloBytes rest = without(without(hello, protocol::kHelloProofAt), protocol::kHelloMacAt);
  return authenticate(Secret(secret), kSessionLabel, {ConstBytes(rest)});
}

Digest seal_of(const HelloBytes& hello, const Key& key) {
  const HelloBytes rest = without(hello, protocol::kHelloMacAt);
  return authenticate(key.secret, kHelloLabel, {ConstBytes(rest)});
}

Digest seal_of(const HelloReplyBytes& reply, const HelloBytes& hello, const Key& key) {
  const HelloReplyBytes rest = without(reply, protocol::kHelloReplyMacAt);
  return authenticate(key.secret, kReplyLabel, {ConstBytes(hello), ConstBytes(rest)});
}
} // namespace

Result<protocol::HelloNonce> make_nonce() {
  protocol::HelloNonce nonce{};
  auto status = fill_randomly(nonce);
  return status ? Result<protocol::HelloNonce>(nonce) : pass_on(std::move(status));
}

void prove_session(HelloBytes& hello, const SessionSecret& secret) {
  const Digest proof = proof_of(hello, secret);
  std::memcpy(hello.data() + protocol::kHelloProofAt, proof.data(), proof.size());
}

bool proves_session(const HelloBytes& hello, const SessionSecret& secret) {
  return are_equal(code_at(hello, protocol::kHelloProofAt), proof_of(hello, secret));
}

void seal_hello(HelloBytes& hello, const Key& key) {
  const Digest mac = seal_of(hello, key);
  std::memcpy(hello.data() + protocol::kHelloMacAt, mac.data(), mac.size());
}

bool is_sealed_by(const HelloBytes& hello, const Key& key) { return are_equal(code_at(hello, protocol::kHelloMacAt), seal_of(hello, key)); }

void seal_reply(HelloReplyBytes& reply, const HelloBytes& hello, const Key& key) {
  const Digest mac = seal_of(reply, hello, key);
  std::memcpy(reply.data() + protocol::kHelloReplyMacAt, mac.data(), mac.size());
}

bool is_sealed_by(const HelloReplyBytes& reply, const HelloBytes& hello, const Key& key) {
  return are_equal(code_at(reply, protocol::kHelloReplyMacAt), seal_of(reply, hello, key));
}

Secret one_time_key(const Key& key, const HelloBytes& hello) { return derive(key.secret, kOneTimeLabel, hello); }

} // namespace farcl::net
