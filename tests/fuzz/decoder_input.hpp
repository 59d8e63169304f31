// What the first byte of an input of fuzz_decoder chooses. The rest is what comes from the wire.
#pragma once

namespace farcl::testing {

enum class DecoderInput : unsigned char {
  kHello, ///< the bytes of a hello
  kHelloReply,
  kClientMessage, ///< an opcode (2 bytes) and a payload
  kServerMessage,
  kClientFrames, ///< a byte (how many bytes each receive gives at most) and frames
  kServerFrames,
  kAddress, ///< a server address as text
  kCount,
};

} // namespace farcl::testing
