// Walking boxes of bytes: the loops behind rectangular copies, reads and writes of memory that this process can reach.
#pragma once

#include "farcl/protocol/messages/enqueue.hpp"

#include <algorithm>
#include <cstdint>

namespace farcl::daemon {

/// True when the box's bytes stand without gaps.
constexpr bool is_contiguous(const protocol::BufferRect& rect) {
  const bool rows_touch = rect.height == 1 || rect.row_pitch == rect.width_bytes;
  const bool slices_touch = rect.depth == 1 || rect.slice_pitch == rect.width_bytes * rect.height;
  return rows_touch && slices_touch;
}

/// Calls `function(offset in the buffer, offset in the box's bytes, count)` for each gapless run of bytes [skip, skip + size)
/// of the box. The box has been checked against its buffer, and the range against the box.
template <class Function>
void for_each_run(const protocol::BufferRect& rect, std::uint64_t skip, std::uint64_t size, Function&& function) {
  if (is_contiguous(rect)) {
    function(rect.offset + skip, skip, size);
    return;
  }
  const std::uint64_t end = skip + size;
  for (std::uint64_t at = skip; at < end;) {
    const std::uint64_t row = at / rect.width_bytes;
    const std::uint64_t column = at % rect.width_bytes;
    const std::uint64_t count = std::min(rect.width_bytes - column, end - at);
    const std::uint64_t y = row % rect.height;
    const std::uint64_t z = row / rect.height;
    function(rect.offset + z * rect.slice_pitch + y * rect.row_pitch + column, at, count);
    at += count;
  }
}

} // namespace farcl::daemon
