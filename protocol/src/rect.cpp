#include "farcl/protocol/messages/enqueue.hpp"

namespace farcl::protocol {

Result<std::uint64_t> size_bytes(const BufferRect& rect) {
  if (rect.width_bytes == 0 || rect.height == 0 || rect.depth == 0) {
    return fail(ErrorCode::kInvalid, "an empty region");
  }
  if (rect.row_pitch < rect.width_bytes && (rect.height > 1 || rect.depth > 1)) {
    return fail(ErrorCode::kInvalid, "a row pitch below the width");
  }
  std::uint64_t size = 0;
  std::uint64_t plane = 0;
  if (__builtin_mul_overflow(rect.width_bytes, rect.height, &size) || __builtin_mul_overflow(size, rect.depth, &size) ||
      __builtin_mul_overflow(rect.row_pitch, rect.height, &plane)) {
    return fail(ErrorCode::kInvalid, "a region whose size overflows");
  }
  if (rect.depth > 1 && rect.slice_pitch < plane) {
    return fail(ErrorCode::kInvalid, "a slice pitch below row pitch times height");
  }
  return size;
}

Result<std::uint64_t> check_within(const BufferRect& rect, std::uint64_t buffer_bytes) {
  auto size = size_bytes(rect);
  if (!size) {
    return size;
  }
  // Offset of the byte behind the last one, each step checked.
  std::uint64_t rows = 0;
  std::uint64_t slices = 0;
  std::uint64_t end = 0;
  if (__builtin_mul_overflow(rect.height - 1, rect.row_pitch, &rows) || __builtin_mul_overflow(rect.depth - 1, rect.slice_pitch, &slices) ||
      __builtin_add_overflow(rows, slices, &end) || __builtin_add_overflow(end, rect.width_bytes, &end) ||
      __builtin_add_overflow(end, rect.offset, &end) || end > buffer_bytes) {
    return fail(ErrorCode::kInvalid, "a region that ends behind the buffer's " + std::to_string(buffer_bytes) + " bytes");
  }
  return size;
}

} // namespace farcl::protocol
