#include "frame_log.hpp"

#include <algorithm>

namespace farcl::net {

namespace {
constexpr std::size_t kBlockBytes = 64u << 10; ///< a frame begins in a block only below this
/// What a block has room for without moving: the largest frame of ordinary traffic may begin at its last byte.
constexpr std::size_t kBlockCapacityBytes = kBlockBytes + protocol::kMaxInlineBytes + (4u << 10);
constexpr std::size_t kMaxSpareBlocks = 16;
} // namespace

ByteVector& FrameLog::begin_frame() {
  if (frame_open_) { // encoding the one before threw
    abandon_frame();
  }
  if (current_ != nullptr && current_->segments == 0 && current_->bytes.capacity() <= kBlockCapacityBytes) {
    current_->bytes.clear(); // everything in it has been acknowledged: start over where the cache is warm
  }
  if (current_ == nullptr || current_->bytes.size() >= kBlockBytes || current_->bytes.capacity() > kBlockCapacityBytes) {
    start_block();
  }
  frame_begin_ = current_->bytes.size();
  current_->bytes.resize(frame_begin_ + protocol::kFrameHeaderBytes);
  frame_open_ = true;
  return current_->bytes;
}

void FrameLog::end_bulk_frame(const protocol::FrameHeader& header, ConstBytes data, std::shared_ptr<const void> keep_alive) {
  segments_.reserve_more(2);
  protocol::store(header, current_->bytes.data() + frame_begin_);
  const std::size_t end = current_->bytes.size();
  const std::size_t in_block = end - frame_begin_;
  if (!segments_.empty() && segments_.back().block == current_ && segments_.back().end == frame_begin_) {
    segments_.back().end = end;
    segments_.back().acknowledged = header.acknowledged;
  } else {
    Segment segment;
    segment.block = current_;
    segment.begin = frame_begin_;
    segment.end = end;
    segment.acknowledged = header.acknowledged;
    push(std::move(segment));
    ++current_->segments;
  }
  if (!data.empty()) {
    Segment segment;
    segment.end = data.size();
    segment.data = data;
    segment.keep_alive = std::move(keep_alive);
    push(std::move(segment));
  }
  retained_bytes_ += in_block + data.size();
  unsent_bytes_ += in_block + data.size();
  frame_open_ = false;
}

void FrameLog::abandon_frame() noexcept {
  current_->bytes.resize(frame_begin_);
  frame_open_ = false;
}

void FrameLog::replace_bulk(const void* owner, const std::function<std::shared_ptr<const std::byte>(ConstBytes)>& copy) {
  for (std::uint64_t index = segments_.first_index(); index != segments_.end_index(); ++index) {
    Segment& segment = segments_[index];
    if (segment.block == nullptr && segment.keep_alive.get() == owner) {
      std::shared_ptr<const std::byte> copied = copy(segment.data);
      segment.data = ConstBytes(copied.get(), segment.data.size());
      segment.keep_alive = std::move(copied);
    }
  }
}

std::size_t FrameLog::gather(std::span<ConstBytes> parts) noexcept {
  std::size_t count = 0;
  std::size_t offset = cursor_offset_;
  for (std::uint64_t index = cursor_index_; index != segments_.end_index() && count < parts.size(); ++index) {
    const Segment& segment = segments_[index];
    if (index != cursor_index_) {
      offset = segment.begin;
    }
    if (offset != segment.end) {
      parts[count++] = ConstBytes(bytes_of(segment) + offset, segment.end - offset);
    }
  }
  return count;
}

void FrameLog::mark_sent(std::size_t bytes) noexcept {
  unsent_bytes_ -= bytes;
  settle_cursor();
  while (bytes != 0) {
    const Segment& segment = segments_[cursor_index_];
    const std::size_t step = std::min(bytes, segment.end - cursor_offset_);
    cursor_offset_ += step;
    bytes -= step;
    if (cursor_offset_ == segment.end) {
      sent_acknowledgement_ = std::max(sent_acknowledgement_, segment.acknowledged);
    }
    settle_cursor();
  }
}

void FrameLog::settle_cursor() noexcept {
  // It stays at the end of the newest segment: that one may still grow.
  while (cursor_index_ + 1 < segments_.end_index() && cursor_offset_ == segments_[cursor_index_].end) {
    ++cursor_index_;
    cursor_offset_ = segments_[cursor_index_].begin;
  }
}

FrameLog::FrameExtent FrameLog::extent_at(const std::byte* header) noexcept {
  FrameExtent extent;
  std::uint32_t payload_bytes = 0;
  std::memcpy(&payload_bytes, header, 4);
  std::memcpy(&extent.opcode, header + 4, 2);
  std::memcpy(&extent.sequence, header + 8, 8);
  extent.in_block = protocol::kFrameHeaderBytes + (extent.opcode == protocol::kOpcodeBulk ? protocol::kBulkHeaderBytes : payload_bytes);
  return extent;
}

bool FrameLog::release_through(std::uint64_t sequence) {
  while (!segments_.empty()) {
    const std::uint64_t index = segments_.first_index();
    const Segment& front = segments_.front();
    const FrameExtent frame = extent_at(bytes_of(front) + front.begin);
    const bool control = protocol::is_control(frame.opcode);
    if (!control && frame.sequence > sequence) {
      break;
    }
    const bool bulk = frame.opcode == protocol::kOpcodeBulk;
    const bool written = bulk ? is_written(index + 1, segments_[index + 1].end) : is_written(index, front.begin + frame.in_block);
    if (!written) {
      recycle_blocks();
      return control;
    }
    advance_front(frame.in_block);
    if (bulk) {
      advance_front(segments_.front().data.size());
    }
  }
  recycle_blocks();
  return true;
}

void FrameLog::advance_front(std::size_t bytes) {
  Segment& front = segments_.front();
  front.begin += bytes;
  retained_bytes_ -= bytes;
  if (front.begin == front.end) {
    pop_front_segment();
  }
}

void FrameLog::pop_front_segment() {
  if (cursor_index_ == segments_.first_index()) { // it was written whole
    ++cursor_index_;
    cursor_offset_ = cursor_index_ != segments_.end_index() ? segments_[cursor_index_].begin : 0;
  }
  if (Block* block = segments_.front().block; block != nullptr) {
    --block->segments;
  }
  segments_.pop_front();
}

void FrameLog::push(Segment segment) {
  if (cursor_index_ == segments_.end_index()) {
    cursor_offset_ = segment.begin;
  }
  segments_.push_back(std::move(segment));
}

void FrameLog::rewind() {
  Ring<Segment> kept;
  for (std::uint64_t index = segments_.first_index(); index != segments_.end_index(); ++index) {
    copy_without_control(segments_[index], kept);
  }
  for (std::uint64_t index = segments_.first_index(); index != segments_.end_index(); ++index) {
    if (segments_[index].block != nullptr) {
      --segments_[index].block->segments;
    }
  }
  segments_ = std::move(kept);
  retained_bytes_ = 0;
  for (std::uint64_t index = segments_.first_index(); index != segments_.end_index(); ++index) {
    retained_bytes_ += segments_[index].end - segments_[index].begin;
    if (segments_[index].block != nullptr) {
      ++segments_[index].block->segments;
    }
  }
  unsent_bytes_ = retained_bytes_;
  cursor_index_ = segments_.first_index();
  cursor_offset_ = segments_.empty() ? 0 : segments_.front().begin;
  recycle_blocks();
}

void FrameLog::copy_without_control(const Segment& segment, Ring<Segment>& kept) const {
  if (segment.block == nullptr) {
    kept.push_back(segment);
    return;
  }
  Segment piece = segment;
  piece.end = piece.begin;
  const auto keep_piece = [&] {
    if (piece.begin != piece.end) {
      kept.push_back(piece);
    }
  };
  for (std::size_t at = segment.begin; at != segment.end;) {
    const FrameExtent frame = extent_at(bytes_of(segment) + at);
    at += frame.in_block;
    if (protocol::is_control(frame.opcode)) {
      keep_piece();
      piece.begin = at;
    }
    piece.end = at;
  }
  keep_piece();
}

void FrameLog::start_block() {
  blocks_.reserve_more(1);
  std::unique_ptr<Block> block;
  if (!spare_.empty()) {
    block = std::move(spare_.back());
    spare_.pop_back();
  } else {
    block = std::make_unique<Block>();
    block->bytes.reserve(kBlockCapacityBytes);
  }
  current_ = block.get();
  blocks_.push_back(std::move(block));
  recycle_blocks(); // the one that was current may have been empty
}

void FrameLog::recycle_blocks() {
  while (!blocks_.empty() && blocks_.front()->segments == 0 && blocks_.front().get() != current_) {
    std::unique_ptr<Block> block = std::move(blocks_.front());
    blocks_.pop_front();
    if (spare_.size() < kMaxSpareBlocks && block->bytes.capacity() <= kBlockCapacityBytes) {
      block->bytes.clear();
      spare_.push_back(std::move(block));
    }
  }
}

} // namespace farcl::net
