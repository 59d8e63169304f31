// The frame: what every stream consists of after the hello.
//
// A frame is a header of 24 bytes and a payload. Sequenced frames (all but the control frames) carry numbers 1, 2, 3, ...
// of the session and direction; `acknowledged` says that the sender of this frame has received everything up to that number.
// A sender keeps a sequenced frame until it is acknowledged, so that a cut connection is repaired by sending again what the
// peer has not seen; a receiver drops numbers that it has already.
#pragma once

#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"
#include "farcl/protocol/ids.hpp"
#include "farcl/protocol/limits.hpp"

#include <cstdint>
#include <cstring>

namespace farcl::protocol {

using Opcode = std::uint16_t;

/// Frames that are no messages: the link handles them itself.
inline constexpr Opcode kOpcodeAcknowledge = 1; ///< control: no payload, only the header's acknowledgement
inline constexpr Opcode kOpcodePing = 2;        ///< control: 8 bytes that come back in the pong
inline constexpr Opcode kOpcodePong = 3;        ///< control
inline constexpr Opcode kOpcodeBulk = 4;        ///< sequenced: BulkHeader, then the bytes
inline constexpr Opcode kFirstMessageOpcode = 16;

constexpr bool is_control(Opcode opcode) { return opcode >= kOpcodeAcknowledge && opcode <= kOpcodePong; }

struct FrameHeader {
  std::uint32_t payload_bytes = 0; ///< at most kMaxFramePayloadBytes
  Opcode opcode = 0;
  std::uint16_t reserved = 0; ///< 0
  std::uint64_t sequence = 0; ///< 0 for control frames
  std::uint64_t acknowledged = 0;
};
inline constexpr std::size_t kFrameHeaderBytes = 24;
inline constexpr std::size_t kPingBytes = 8;

/// Starts the payload of a bulk frame; the payload's other bytes belong at `offset` of the transfer.
struct BulkHeader {
  TransferId transfer;
  std::uint64_t offset = 0;
};
inline constexpr std::size_t kBulkHeaderBytes = 16;

/// Writes the header's 24 bytes at `out`.
inline void store(const FrameHeader& header, std::byte* out) {
  std::memcpy(out, &header.payload_bytes, 4);
  std::memcpy(out + 4, &header.opcode, 2);
  std::memcpy(out + 6, &header.reserved, 2);
  std::memcpy(out + 8, &header.sequence, 8);
  std::memcpy(out + 16, &header.acknowledged, 8);
}
/// Reads and checks a header: length within its maximum, reserved bits 0, sequence present exactly where it belongs.
[[nodiscard]] Result<FrameHeader> load_frame_header(std::span<const std::byte, kFrameHeaderBytes> in);

inline void store(const BulkHeader& header, std::byte* out) {
  std::memcpy(out, &header.transfer.value, 8);
  std::memcpy(out + 8, &header.offset, 8);
}
inline BulkHeader load_bulk_header(const std::byte* in) {
  BulkHeader header;
  std::memcpy(&header.transfer.value, in, 8);
  std::memcpy(&header.offset, in + 8, 8);
  return header;
}

} // namespace farcl::protocol
