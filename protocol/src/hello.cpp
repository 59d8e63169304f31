#include "farcl/protocol/hello.hpp"

#include <algorithm>
#include <cstring>

namespace farcl::protocol {

namespace {
// Both layouts: magic[8], version_min u16, version_max u16, kind or status u8, stream number u8 and capabilities u8 (hello), 1 byte zero,
// session[16], secret[32], received u64; then key[16], nonce[32], 8 bytes zero (hello) or text length u32 and text (reply); mac[32].
constexpr std::size_t kVersionMinAt = 8;
constexpr std::size_t kVersionMaxAt = 10;
constexpr std::size_t kKindAt = 12;
constexpr std::size_t kStreamNumberAt = 13;
constexpr std::size_t kCapabilitiesAt = 14;
constexpr std::size_t kSessionAt = 16;
constexpr std::size_t kSecretAt = 32;
constexpr std::size_t kReceivedAt = 64;
constexpr std::size_t kKeyAt = 72;
constexpr std::size_t kNonceAt = 88;
constexpr std::size_t kTextLengthAt = 72;
constexpr std::size_t kTextAt = 76;
static_assert(kSecretAt == kHelloProofAt);
static_assert(kNonceAt + sizeof(HelloNonce) <= kHelloMacAt && kHelloMacAt + kMacBytes == kHelloBytes);
static_assert(kTextAt + kHelloTextBytes <= kHelloReplyMacAt && kHelloReplyMacAt + kMacBytes == kHelloReplyBytes);

template <class Array>
void store(const Array& from, std::byte* to) {
  std::memcpy(to, from.data(), from.size());
}
template <class Array>
void load(const std::byte* from, Array& to) {
  std::memcpy(to.data(), from, to.size());
}

template <class Bytes, class Message>
Bytes encode_common(const Message& message, std::uint8_t kind, const std::array<std::uint8_t, 32>& secret) {
  Bytes out{};
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  std::memcpy(out.data() + kVersionMinAt, &message.version_min, 2);
  std::memcpy(out.data() + kVersionMaxAt, &message.version_max, 2);
  out[kKindAt] = static_cast<std::byte>(kind);
  std::memcpy(out.data() + kSessionAt, message.session.data(), message.session.size());
  std::memcpy(out.data() + kSecretAt, secret.data(), secret.size());
  std::memcpy(out.data() + kReceivedAt, &message.received, 8);
  return out;
}

template <class Message>
Status decode_common(ConstBytes bytes, Message& message, std::array<std::uint8_t, 32>& secret) {
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return fail(ErrorCode::kInvalid, "the other side does not speak FarCL (wrong magic)");
  }
  std::memcpy(&message.version_min, bytes.data() + kVersionMinAt, 2);
  std::memcpy(&message.version_max, bytes.data() + kVersionMaxAt, 2);
  if (message.version_min > message.version_max) {
    return fail(ErrorCode::kInvalid, "an empty range of protocol versions");
  }
  std::memcpy(message.session.data(), bytes.data() + kSessionAt, message.session.size());
  std::memcpy(secret.data(), bytes.data() + kSecretAt, secret.size());
  std::memcpy(&message.received, bytes.data() + kReceivedAt, 8);
  return {};
}
} // namespace

HelloBytes encode_hello(const Hello& hello) {
  auto out = encode_common<HelloBytes>(hello, static_cast<std::uint8_t>(hello.stream), hello.proof);
  out[kStreamNumberAt] = static_cast<std::byte>(hello.stream_number);
  out[kCapabilitiesAt] = static_cast<std::byte>(hello.capabilities);
  store(hello.key, out.data() + kKeyAt);
  store(hello.nonce, out.data() + kNonceAt);
  store(hello.mac, out.data() + kHelloMacAt);
  return out;
}

Result<Hello> decode_hello(std::span<const std::byte, kHelloBytes> bytes) {
  Hello hello;
  if (auto status = decode_common(bytes, hello, hello.proof); !status) {
    return pass_on(std::move(status));
  }
  hello.stream = static_cast<StreamKind>(bytes[kKindAt]);
  hello.capabilities = static_cast<std::uint8_t>(bytes[kCapabilitiesAt]);
  load(bytes.data() + kKeyAt, hello.key);
  load(bytes.data() + kNonceAt, hello.nonce);
  load(bytes.data() + kHelloMacAt, hello.mac);
  if (!is_known(hello.stream)) {
    return fail(ErrorCode::kInvalid, "an unknown kind of stream");
  }
  if (hello.stream == StreamKind::kBulk) {
    hello.stream_number = static_cast<std::uint8_t>(bytes[kStreamNumberAt]);
    if (hello.stream_number == 0 || hello.stream_number > kMaxBulkStreams || hello.session == SessionId{}) {
      return fail(ErrorCode::kInvalid, "a stream for bulk without a session or a number");
    }
  }
  return hello;
}

HelloReplyBytes encode_hello_reply(const HelloReply& reply) {
  auto out = encode_common<HelloReplyBytes>(reply, static_cast<std::uint8_t>(reply.status), reply.secret);
  const auto length = static_cast<std::uint32_t>(std::min(reply.text.size(), kHelloTextBytes));
  std::memcpy(out.data() + kTextLengthAt, &length, 4);
  std::memcpy(out.data() + kTextAt, reply.text.data(), length);
  store(reply.mac, out.data() + kHelloReplyMacAt);
  return out;
}

Result<HelloReply> decode_hello_reply(std::span<const std::byte, kHelloReplyBytes> bytes) {
  HelloReply reply;
  if (auto status = decode_common(bytes, reply, reply.secret); !status) {
    return pass_on(std::move(status));
  }
  reply.status = static_cast<HelloStatus>(bytes[kKindAt]);
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + kTextLengthAt, 4);
  if (!is_known(reply.status) || length > kHelloTextBytes) {
    return fail(ErrorCode::kInvalid, "a malformed answer to the hello");
  }
  reply.text.assign(reinterpret_cast<const char*>(bytes.data() + kTextAt), length);
  load(bytes.data() + kHelloReplyMacAt, reply.mac);
  return reply;
}

} // namespace farcl::protocol
