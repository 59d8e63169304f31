// The log of frames behind a FrameSender: encoded bytes in recycled blocks, bulk data by reference, from the first frame that
// the peer has not acknowledged to the newest one, with a cursor at the first byte that has not been written to the transport.
//
// The log is a queue of segments, each a run of bytes in one block or one piece of bulk data. A frame's header and what is
// encoded of it lie in one segment; a bulk frame's data is the segment right behind. The front of the queue and the starts of
// frames are found again by walking over the headers, so nothing is kept per frame.
#pragma once

#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"
#include "farcl/protocol/frame.hpp"
#include "ring.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace farcl::net {

class FrameLog {
public:
  /// Reserves room for a header at the end and returns the block; the payload is appended to it.
  ByteVector& begin_frame();
  /// Payload bytes of the frame begun.
  [[nodiscard]] std::size_t encoded_payload_bytes() const noexcept {
    return current_->bytes.size() - frame_begin_ - protocol::kFrameHeaderBytes;
  }
  /// Fills in the header; the frame is part of the log from now on.
  void end_frame(const protocol::FrameHeader& header) { end_bulk_frame(header, {}, {}); }
  /// The same with `data` as the rest of the payload, by reference; `header.payload_bytes` counts it too.
  void end_bulk_frame(const protocol::FrameHeader& header, ConstBytes data, std::shared_ptr<const void> keep_alive);
  void abandon_frame() noexcept;
  /// See FrameSender::replace_bulk.
  void replace_bulk(const void* owner, const std::function<std::shared_ptr<const std::byte>(ConstBytes)>& copy);

  /// Fills `parts` with the unsent bytes from the cursor on, as far as they fit; returns how many parts.
  std::size_t gather(std::span<ConstBytes> parts) noexcept;
  void mark_sent(std::size_t bytes) noexcept;
  [[nodiscard]] std::size_t unsent_bytes() const noexcept { return unsent_bytes_; }
  [[nodiscard]] std::size_t retained_bytes() const noexcept { return retained_bytes_; }
  /// The highest acknowledgement in a header that has certainly been written.
  [[nodiscard]] std::uint64_t sent_acknowledgement() const noexcept { return sent_acknowledgement_; }

  /// Frees every frame up to `sequence`, and control frames before the next. False, with some of them freed, when it reaches
  /// one that has not been written whole.
  [[nodiscard]] bool release_through(std::uint64_t sequence);
  /// Sets the cursor to the front and drops control frames.
  void rewind();

private:
  struct Block {
    ByteVector bytes;
    std::size_t segments = 0; ///< that refer to it
  };
  struct Segment {
    Block* block = nullptr; ///< null: `data`
    std::size_t begin = 0;  ///< offsets in the block, or in `data`
    std::size_t end = 0;
    std::uint64_t acknowledged = 0; ///< the highest in its headers
    ConstBytes data;
    std::shared_ptr<const void> keep_alive; ///< of `data`
  };

  [[nodiscard]] static const std::byte* bytes_of(const Segment& segment) noexcept {
    return segment.block != nullptr ? segment.block->bytes.data() : segment.data.data();
  }
  [[nodiscard]] bool is_written(std::uint64_t index, std::size_t end) const noexcept {
    return index < cursor_index_ || (index == cursor_index_ && end <= cursor_offset_);
  }
  /// Moves the cursor from the end of a segment to the start of the next one, if there is one.
  void settle_cursor() noexcept;
  void push(Segment segment);
  void pop_front_segment();
  void start_block();
  void recycle_blocks();

  struct FrameExtent {
    protocol::Opcode opcode = 0;
    std::uint64_t sequence = 0;
    std::size_t in_block = 0; ///< header and encoded payload
  };
  [[nodiscard]] static FrameExtent extent_at(const std::byte* header) noexcept;
  void advance_front(std::size_t bytes);
  void copy_without_control(const Segment& segment, Ring<Segment>& kept) const;

  Ring<Segment> segments_;
  std::uint64_t cursor_index_ = 0;
  std::size_t cursor_offset_ = 0;
  std::size_t unsent_bytes_ = 0;
  std::size_t retained_bytes_ = 0;
  std::uint64_t sent_acknowledgement_ = 0;

  Ring<std::unique_ptr<Block>> blocks_; ///< all that are in use, oldest first
  std::vector<std::unique_ptr<Block>> spare_;
  Block* current_ = nullptr;
  std::size_t frame_begin_ = 0;
  bool frame_open_ = false;
};

} // namespace farcl::net
