// Every maximum of a session, in one struct that the server sends in the handshake, and the maxima that both sides know
// before the handshake. Each is checked before the value it bounds is used.
#pragma once

#include "farcl/base/archive.hpp"

#include <cstdint>

namespace farcl::protocol {

inline constexpr std::uint64_t kMaxFramePayloadBytes = 16u << 20; ///< of any frame; messages and bulk chunks
inline constexpr std::uint64_t kBulkChunkBytes = 256u << 10;      ///< what a sender puts into one bulk frame
inline constexpr std::uint8_t kMaxBulkStreams = 4;                ///< of a session, beside its stream of commands
inline constexpr std::uint64_t kMaxInlineBytes = 32u << 10;       ///< data of a read or write that travels in the message itself
inline constexpr std::uint64_t kSharedBufferBytes = 64u << 10;    ///< from here on a buffer may lie in memory that client and server share
inline constexpr std::uint64_t kMaxWaitListEvents = 4096;
inline constexpr std::uint64_t kMaxKernelArgumentBytes = 4096; ///< one argument by value
inline constexpr std::uint64_t kMaxFillPatternBytes = 128;
inline constexpr std::uint64_t kMaxSourceBytes = 8u << 20;
inline constexpr std::uint64_t kSourceAlongBytes = 64u << 10; ///< a larger program is first asked for by its hash
inline constexpr std::uint64_t kMaxHeadersPerBuild = 4096;
inline constexpr std::uint64_t kMaxBuildOptionsBytes = 64u << 10;
inline constexpr std::uint64_t kMaxBuildLogBytes = 1u << 20;
inline constexpr std::uint64_t kMaxProgramBinaryBytes = 15u << 20;
inline constexpr std::uint64_t kMaxBuildInputs = 1024;
inline constexpr std::uint64_t kMaxDevicesPerServer = 64;
inline constexpr std::uint64_t kMaxDeviceProperties = 512;
inline constexpr std::uint64_t kMaxSentenceBytes = 4096;
inline constexpr std::uint64_t kMaxPathBytes = 4096;
inline constexpr std::uint64_t kMaxPrintfBytes = 1u << 20;
inline constexpr std::uint64_t kMaxCompletionsPerMessage = 16384;
inline constexpr std::uint64_t kMaxEventsPerRelease = 16384;

/// What this server allows one session. A client that goes beyond gets a typed error for the command concerned.
struct SessionLimits {
  std::uint64_t memory_bytes = 0;           ///< of all buffers of the session together
  std::uint64_t commands_in_flight = 65536; ///< enqueued and not complete
  std::uint64_t objects = 1u << 20;         ///< contexts, queues, buffers, programs and events alive at once
  std::uint64_t retained_bytes = 64u << 20; ///< what each side keeps for resending; a sender waits beyond that
  std::uint64_t build_seconds = 60;         ///< of one compilation
  std::uint64_t resume_seconds = 5;         ///< how long a session without connection is kept

  static constexpr auto fields() {
    using T = SessionLimits;
    return std::tuple(field("memory_bytes", &T::memory_bytes), field("commands_in_flight", &T::commands_in_flight),
                      field("objects", &T::objects), field("retained_bytes", &T::retained_bytes), field("build_seconds", &T::build_seconds),
                      field("resume_seconds", &T::resume_seconds));
  }
};

} // namespace farcl::protocol
