// The hello and its reply: there and back, every byte changed, other versions.
#include "farcl/protocol/hello.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace farcl::protocol {
namespace {

Hello some_hello() {
  Hello hello;
  hello.received = 0x0102030405060708;
  hello.session.fill(0x5a);
  hello.proof.fill(0xa5);
  hello.capabilities = kTakesSharedMemory;
  hello.key.fill(0x11);
  hello.nonce.fill(0x22);
  hello.mac.fill(0x33);
  return hello;
}
HelloReply some_reply() {
  HelloReply reply;
  reply.status = HelloStatus::kTooMany;
  reply.received = 0x0102030405060708;
  reply.session.fill(0x5a);
  reply.secret.fill(0xa5);
  reply.text = "the limit of sessions is reached";
  reply.mac.fill(0x44);
  return reply;
}
/// What stands before the session, and between the last field and the code of authentication, is kept for later versions.
bool is_reserved(std::size_t at, std::size_t first_reserved, std::size_t end_of_fields, std::size_t mac_at) {
  return (at >= first_reserved && at < 16) || (at >= end_of_fields && at < mac_at);
}

TEST(Hello, ThereAndBack) {
  const Hello hello = some_hello();
  const auto decoded = decode_hello(encode_hello(hello));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(encode_hello(*decoded), encode_hello(hello));
  EXPECT_EQ(decoded->received, hello.received);
  EXPECT_EQ(decoded->session, hello.session);
  EXPECT_EQ(decoded->proof, hello.proof);
  EXPECT_EQ(decoded->key, hello.key);
  EXPECT_EQ(decoded->nonce, hello.nonce);
  EXPECT_EQ(decoded->mac, hello.mac);
}

TEST(Hello, EveryByteCounts) {
  const auto bytes = encode_hello(some_hello());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned flip : {1u, 0x80u, 0xffu}) {
      auto changed = bytes;
      changed[at] ^= static_cast<std::byte>(flip);
      const auto decoded = decode_hello(changed);
      const bool same = decoded && encode_hello(*decoded) == bytes;
      EXPECT_EQ(same, at == 13 || is_reserved(at, 15, 120, kHelloMacAt)) << "byte " << at; // 13: a number that only streams for bulk have
    }
  }
}

TEST(Hello, AStreamForBulkNeedsASessionAndANumber) {
  Hello hello = some_hello();
  hello.stream = StreamKind::kBulk;
  for (unsigned number = 0; number < 256; ++number) {
    hello.stream_number = static_cast<std::uint8_t>(number);
    const auto decoded = decode_hello(encode_hello(hello));
    ASSERT_EQ(decoded.has_value(), number >= 1 && number <= kMaxBulkStreams) << number;
    EXPECT_TRUE(!decoded || decoded->stream_number == number);
  }
  hello.stream_number = 1;
  hello.session = {};
  EXPECT_FALSE(decode_hello(encode_hello(hello)));
}

TEST(Hello, AnotherMagicFails) {
  auto bytes = encode_hello({});
  std::memcpy(bytes.data(), "GET / HT", 8);
  const auto decoded = decode_hello(bytes);
  ASSERT_FALSE(decoded.has_value());
  EXPECT_NE(decoded.error().message.find("does not speak FarCL"), std::string::npos);
}

TEST(Hello, LaterVersionsAreReadable) {
  Hello hello = some_hello();
  hello.version_min = 7;
  hello.version_max = 9;
  const auto decoded = decode_hello(encode_hello(hello));
  ASSERT_TRUE(decoded.has_value()) << "the answer must be a reply with kBadVersion";
  EXPECT_EQ(decoded->version_min, 7);
  hello.version_min = 10;
  EXPECT_FALSE(decode_hello(encode_hello(hello)).has_value()) << "an empty range";
}

TEST(HelloReply, ThereAndBack) {
  const auto bytes = encode_hello_reply(some_reply());
  const auto decoded = decode_hello_reply(bytes);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(encode_hello_reply(*decoded), bytes);
  EXPECT_EQ(decoded->text, some_reply().text);
}

TEST(HelloReply, EveryByteCounts) {
  const auto bytes = encode_hello_reply(some_reply());
  const std::size_t end = 76 + some_reply().text.size();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned flip : {1u, 0x80u, 0xffu}) {
      auto changed = bytes;
      changed[at] ^= static_cast<std::byte>(flip);
      const auto decoded = decode_hello_reply(changed);
      const bool same = decoded && encode_hello_reply(*decoded) == bytes;
      EXPECT_EQ(same, is_reserved(at, 13, end, kHelloReplyMacAt)) << "byte " << at;
    }
  }
}

TEST(HelloReply, LongTextsAreCutAndLongLengthsRefused) {
  HelloReply reply;
  reply.text.assign(1000, 'x');
  auto bytes = encode_hello_reply(reply);
  auto decoded = decode_hello_reply(bytes);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->text.size(), kHelloTextBytes);
  const std::uint32_t length = kHelloTextBytes + 1;
  std::memcpy(bytes.data() + 72, &length, 4);
  EXPECT_FALSE(decode_hello_reply(bytes).has_value());
}

} // namespace
} // namespace farcl::protocol
