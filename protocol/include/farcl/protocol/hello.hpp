// The hello: the bounded clear text that opens every connection, before any frame.
//
// The client sends exactly kHelloBytes; the server answers exactly kHelloReplyBytes, of which a sentence of text is part. The
// supervisor of the daemon reads the hello (and not one byte beyond it), the worker that gets the connection sends the reply.
#pragma once

#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"
#include "farcl/protocol/ids.hpp"
#include "farcl/protocol/limits.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace farcl::protocol {

inline constexpr std::array<char, 8> kMagic = {'F', 'A', 'R', 'C', 'L', '\r', '\n', '\0'};
inline constexpr std::uint16_t kVersion = 1; ///< of the protocol; both sides name a range, the highest common one is used

inline constexpr std::size_t kHelloBytes = 160;
inline constexpr std::size_t kHelloReplyBytes = 352;
inline constexpr std::size_t kHelloTextBytes = 240;

enum class StreamKind : std::uint8_t {
  kCommands = 0, ///< the session itself: messages, and bulk as long as there is no stream for it
  kBulk = 1,     ///< a further connection of an existing session, with sequence numbers of its own
};
constexpr bool is_known(StreamKind kind) { return kind <= StreamKind::kBulk; }

/// What a client can do beyond what its version says; bits that a server does not know mean nothing to it.
inline constexpr std::uint8_t kTakesSharedMemory = 1; ///< over a Unix socket: descriptors may come with the reply, see ring_transport

/// Where the codes of authentication stand: net/hello_seal.hpp makes and checks them over the encoded bytes.
inline constexpr std::size_t kHelloProofAt = 32;
inline constexpr std::size_t kHelloMacAt = 128;
inline constexpr std::size_t kHelloReplyMacAt = 320;
inline constexpr std::size_t kMacBytes = 32;
using Mac = std::array<std::uint8_t, kMacBytes>;

/// Names a key on the wire without telling anything about it.
using KeyId = std::array<std::uint8_t, 16>;
using HelloNonce = std::array<std::uint8_t, 32>;

struct Hello {
  std::uint16_t version_min = kVersion;
  std::uint16_t version_max = kVersion;
  StreamKind stream = StreamKind::kCommands;
  std::uint8_t stream_number = 0; ///< of a stream for bulk: 1 to kMaxBulkStreams
  SessionId session{};            ///< zeros: a new session
  /// Of a resumed session: shows that the client knows the secret from its first reply. Whoever fills in a Hello puts the secret here;
  /// net::connect sends a proof of it instead, so that nobody who listens can use it.
  std::array<std::uint8_t, 32> proof{};
  std::uint64_t received = 0; ///< of a resumed session or stream: the last sequence number that the client has
  std::uint8_t capabilities = 0;
  KeyId key{};        ///< zeros: none, and the connection stays in the clear; else TLS follows the hello at once
  HelloNonce nonce{}; ///< chosen anew for each hello
  Mac mac{};          ///< by the key, over all other bytes
};

enum class HelloStatus : std::uint8_t {
  kWelcome = 0,
  kBadVersion = 1,     ///< no common version; the reply's range says what the server speaks
  kUnknownSession = 2, ///< proof of death: never heard of it, or freed
  kObituary = 3,       ///< proof of death: the session's worker has died; the text says how
  kTooMany = 4,        ///< the server's limit of sessions is reached
  kRefused = 5,        ///< anything else; the text says why
  kKeyRefused = 6,     ///< the key is not known, has expired or was revoked, or the hello is a copy of an earlier one
  kKeyWanted = 7,      ///< this server lets in nobody without a key
  kNoKeys = 8,         ///< the client has a key and this server has none to compare it with
};
constexpr bool is_known(HelloStatus status) { return status <= HelloStatus::kNoKeys; }

struct HelloReply {
  std::uint16_t version_min = kVersion;
  std::uint16_t version_max = kVersion; ///< of a welcome: min == max == the version in use
  HelloStatus status = HelloStatus::kWelcome;
  SessionId session{};
  std::array<std::uint8_t, 32> secret{}; ///< of a new session: proves the right to resume it
  std::uint64_t received = 0;            ///< the last sequence number that the server has
  std::string text;                      ///< at most kHelloTextBytes, a sentence for the user; cut if longer
  Mac mac{};                             ///< of a refusal in the clear to the owner of a key: by that key, over hello and reply
};

using HelloBytes = std::array<std::byte, kHelloBytes>;
using HelloReplyBytes = std::array<std::byte, kHelloReplyBytes>;

[[nodiscard]] HelloBytes encode_hello(const Hello& hello);
[[nodiscard]] Result<Hello> decode_hello(std::span<const std::byte, kHelloBytes> bytes);
[[nodiscard]] HelloReplyBytes encode_hello_reply(const HelloReply& reply);
[[nodiscard]] Result<HelloReply> decode_hello_reply(std::span<const std::byte, kHelloReplyBytes> bytes);

} // namespace farcl::protocol
