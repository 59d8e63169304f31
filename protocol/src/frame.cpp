#include "farcl/protocol/frame.hpp"

namespace farcl::protocol {

Result<FrameHeader> load_frame_header(std::span<const std::byte, kFrameHeaderBytes> in) {
  FrameHeader header;
  std::memcpy(&header.payload_bytes, in.data(), 4);
  std::memcpy(&header.opcode, in.data() + 4, 2);
  std::memcpy(&header.reserved, in.data() + 6, 2);
  std::memcpy(&header.sequence, in.data() + 8, 8);
  std::memcpy(&header.acknowledged, in.data() + 16, 8);
  if (header.payload_bytes > kMaxFramePayloadBytes) {
    return fail(ErrorCode::kLimit, "a frame of " + std::to_string(header.payload_bytes) + " bytes; at most " +
                                       std::to_string(kMaxFramePayloadBytes) + " are allowed");
  }
  if (header.reserved != 0 || header.opcode == 0) {
    return fail(ErrorCode::kInvalid, "a frame header that is none");
  }
  if (is_control(header.opcode)) {
    const std::uint32_t expected = header.opcode == kOpcodeAcknowledge ? 0 : kPingBytes;
    if (header.sequence != 0 || header.payload_bytes != expected) {
      return fail(ErrorCode::kInvalid, "a malformed control frame");
    }
  } else if (header.sequence == 0) {
    return fail(ErrorCode::kInvalid, "a message without a sequence number");
  }
  if (header.opcode == kOpcodeBulk && header.payload_bytes <= kBulkHeaderBytes) {
    return fail(ErrorCode::kInvalid, "a bulk frame without data");
  }
  return header;
}

} // namespace farcl::protocol
