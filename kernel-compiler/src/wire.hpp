// Frames between the compile service and its clients over a stream Unix socket: a fixed header, then the encoded message.
// A descriptor, if there is one, travels with the header's first byte.
#pragma once

#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace farcl::kernel_compiler {

struct FrameHeader {
  std::uint32_t magic = 0;
  std::uint32_t flags = 0; ///< kFlagHasDescriptor
  std::uint64_t request_id = 0;
  std::uint64_t size_bytes = 0; ///< of the message that follows
};
static_assert(sizeof(FrameHeader) == 24);

inline constexpr std::uint32_t kFrameMagic = 0x314b4346; // "FCK1"
inline constexpr std::uint32_t kFlagHasDescriptor = 1;

struct Frame {
  std::uint64_t request_id = 0;
  ByteVector message;
  UniqueFd descriptor;
};

using Deadline = std::chrono::steady_clock::time_point;

/// Sends header and message, with `descriptor` if it is not negative.
Status send_frame(int socket, std::uint64_t request_id, ConstBytes message, int descriptor, Deadline deadline);

/// Sends one frame piece by piece, as the socket takes it.
class FrameSender {
public:
  /// True once the frame has gone out; false if the socket is full for now.
  Result<bool> advance(int socket, std::uint64_t request_id, ConstBytes message, int descriptor);

private:
  std::size_t sent_ = 0; ///< bytes of header and message
};

/// Puts frames together from whatever pieces arrive. One per connection.
class FrameReader {
public:
  /// Reads what is there, without waiting; kClosed at the peer's end, kInvalid if the peer breaks the rules.
  Status read_some(int socket);
  /// The next whole frame, if there is one.
  std::optional<Frame> take();
  /// A message has begun and is not whole.
  [[nodiscard]] bool is_inside() const { return filled_ != 0; }

private:
  Status accept_header();

  FrameHeader header_;
  std::uint64_t filled_ = 0; ///< bytes of header and message that are there
  ByteVector message_;
  UniqueFd descriptor_;
  std::vector<Frame> ready_;
};

/// One byte and one descriptor: how connections reach the service.
Status send_descriptor(int socket, int descriptor);
/// Nothing there: an empty descriptor.
Result<UniqueFd> receive_descriptor(int socket);

/// True if `socket` became ready for `events` before the deadline.
Result<bool> wait_for(int socket, short events, Deadline deadline);

} // namespace farcl::kernel_compiler
