#include "driver/validate/memory.hpp"

#include <algorithm>
#include <bit>

namespace farcl::driver::validate {
namespace {

constexpr cl_mem_flags kAccessFlags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
constexpr cl_mem_flags kHostPtrFlags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
constexpr cl_mem_flags kHostAccessFlags = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

constexpr bool at_most_one(cl_mem_flags flags) { return (flags & (flags - 1)) == 0; }
constexpr bool has(cl_mem_flags flags, cl_mem_flags some) { return (flags & some) != 0; }

/// The range [offset, offset + size) lies within `whole` bytes.
constexpr bool within(std::uint64_t offset, std::uint64_t size, std::uint64_t whole) { return offset <= whole && size <= whole - offset; }

constexpr std::uint64_t bits_to_bytes(std::uint64_t bits) { return std::max<std::uint64_t>(bits / 8, 1); }

/// First byte behind the rect; the caller has checked it against a size, so nothing overflows.
std::uint64_t end_of(const protocol::BufferRect& rect) {
  return rect.offset + (rect.depth - 1) * rect.slice_pitch + (rect.height - 1) * rect.row_pitch + rect.width_bytes;
}

/// Two intervals of `length` that repeat every `period`, starting at `a` and `b` within it, never touch.
bool apart_in_period(std::uint64_t a, std::uint64_t b, std::uint64_t length, std::uint64_t period) {
  const std::uint64_t low = std::min(a, b);
  const std::uint64_t high = std::max(a, b);
  return high - low >= length && high + length <= low + period;
}

} // namespace

cl_int buffer_flags(cl_mem_flags flags) {
  const bool known = (flags & ~(kAccessFlags | kHostPtrFlags | kHostAccessFlags)) == 0;
  const bool exclusive = at_most_one(flags & kAccessFlags) && at_most_one(flags & kHostAccessFlags) &&
                         !(has(flags, CL_MEM_USE_HOST_PTR) && has(flags, CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR));
  return known && exclusive ? CL_SUCCESS : CL_INVALID_VALUE;
}

cl_int buffer_properties(const cl_mem_properties* properties) {
  return properties == nullptr || properties[0] == 0 ? CL_SUCCESS : CL_INVALID_PROPERTY;
}

cl_int create_buffer(cl_mem_flags flags, std::size_t size_bytes, const void* host_ptr, std::uint64_t max_alloc_bytes) {
  if (const cl_int code = buffer_flags(flags); code != CL_SUCCESS) {
    return code;
  }
  if (size_bytes == 0 || size_bytes > max_alloc_bytes) {
    return CL_INVALID_BUFFER_SIZE;
  }
  const bool wants_pointer = has(flags, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
  return wants_pointer == (host_ptr != nullptr) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

namespace {

/// A sub-buffer may narrow what its parent allows, never widen it.
bool sub_buffer_flags_fit(cl_mem_flags parent, cl_mem_flags flags) {
  const cl_mem_flags known = kAccessFlags | kHostAccessFlags;
  if ((flags & ~known) != 0 || !at_most_one(flags & kAccessFlags) || !at_most_one(flags & kHostAccessFlags)) {
    return false;
  }
  const bool access_fits = !(has(parent, CL_MEM_WRITE_ONLY) && has(flags, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) &&
                           !(has(parent, CL_MEM_READ_ONLY) && has(flags, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY));
  const bool host_fits = !(has(parent, CL_MEM_HOST_WRITE_ONLY) && has(flags, CL_MEM_HOST_READ_ONLY)) &&
                         !(has(parent, CL_MEM_HOST_READ_ONLY) && has(flags, CL_MEM_HOST_WRITE_ONLY)) &&
                         !(has(parent, CL_MEM_HOST_NO_ACCESS) && has(flags, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY));
  return access_fits && host_fits;
}

} // namespace

cl_int create_sub_buffer(const SubBufferParent& parent, cl_mem_flags flags, cl_buffer_create_type type, const void* info,
                         std::span<const std::uint64_t> alignments_bits) {
  if (parent.is_sub_buffer) {
    return CL_INVALID_MEM_OBJECT;
  }
  if (!sub_buffer_flags_fit(parent.flags, flags) || type != CL_BUFFER_CREATE_TYPE_REGION || info == nullptr) {
    return CL_INVALID_VALUE;
  }
  const auto& region = *static_cast<const cl_buffer_region*>(info);
  if (!within(region.origin, region.size, parent.size_bytes)) {
    return CL_INVALID_VALUE;
  }
  if (region.size == 0) {
    return CL_INVALID_BUFFER_SIZE;
  }
  const bool suits_one = std::any_of(alignments_bits.begin(), alignments_bits.end(),
                                     [&](std::uint64_t bits) { return region.origin % bits_to_bytes(bits) == 0; });
  return suits_one ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

cl_mem_flags sub_buffer_flags(cl_mem_flags parent_flags, cl_mem_flags flags) {
  cl_mem_flags result = flags | (parent_flags & kHostPtrFlags);
  if (!has(flags, kAccessFlags)) {
    result |= parent_flags & kAccessFlags;
  }
  if (!has(flags, kHostAccessFlags)) {
    result |= parent_flags & kHostAccessFlags;
  }
  return result;
}

cl_int sub_buffer_alignment(std::uint64_t origin, std::uint64_t alignment_bits) {
  return origin % bits_to_bytes(alignment_bits) == 0 ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

cl_int host_access(cl_mem_flags flags, bool reads, bool writes) {
  const bool forbidden = (reads && has(flags, CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) ||
                         (writes && has(flags, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS));
  return forbidden ? CL_INVALID_OPERATION : CL_SUCCESS;
}

cl_int transfer_range(std::uint64_t buffer_bytes, std::size_t offset, std::size_t size_bytes, const void* ptr) {
  return within(offset, size_bytes, buffer_bytes) && ptr != nullptr ? CL_SUCCESS : CL_INVALID_VALUE;
}

cl_int copy_ranges(std::uint64_t source_bytes, std::uint64_t destination_bytes, std::size_t source_offset, std::size_t destination_offset,
                   std::size_t size_bytes) {
  return within(source_offset, size_bytes, source_bytes) && within(destination_offset, size_bytes, destination_bytes) ? CL_SUCCESS
                                                                                                                      : CL_INVALID_VALUE;
}

cl_int fill_range(std::uint64_t buffer_bytes, const void* pattern, std::size_t pattern_bytes, std::size_t offset, std::size_t size_bytes) {
  if (!within(offset, size_bytes, buffer_bytes) || pattern == nullptr || !std::has_single_bit(pattern_bytes) ||
      pattern_bytes > protocol::kMaxFillPatternBytes || offset % pattern_bytes != 0 || size_bytes % pattern_bytes != 0) {
    return CL_INVALID_VALUE;
  }
  return CL_SUCCESS;
}

cl_int map_range(std::uint64_t buffer_bytes, cl_map_flags flags, std::size_t offset, std::size_t size_bytes) {
  constexpr cl_map_flags kKnown = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
  const bool exclusive = (flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0 || (flags & (CL_MAP_READ | CL_MAP_WRITE)) == 0;
  if (!within(offset, size_bytes, buffer_bytes) || size_bytes == 0 || (flags & ~kKnown) != 0 || !exclusive) {
    return CL_INVALID_VALUE;
  }
  return CL_SUCCESS;
}

cl_int migration_flags(cl_mem_migration_flags flags) {
  constexpr cl_mem_migration_flags kKnown = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  return (flags & ~kKnown) == 0 ? CL_SUCCESS : CL_INVALID_VALUE;
}

cl_int make_rect(const std::size_t* origin, const std::size_t* region, std::size_t row_pitch, std::size_t slice_pitch,
                 protocol::BufferRect& rect) {
  if (origin == nullptr || region == nullptr || region[0] == 0 || region[1] == 0 || region[2] == 0) {
    return CL_INVALID_VALUE;
  }
  if (row_pitch != 0 && row_pitch < region[0]) {
    return CL_INVALID_VALUE;
  }
  const std::uint64_t row = row_pitch != 0 ? row_pitch : region[0];
  std::uint64_t least_slice = 0;
  if (__builtin_mul_overflow(row, std::uint64_t{region[1]}, &least_slice)) {
    return CL_INVALID_VALUE;
  }
  if (slice_pitch != 0 && (slice_pitch < least_slice || slice_pitch % row != 0)) {
    return CL_INVALID_VALUE;
  }
  const std::uint64_t slice = slice_pitch != 0 ? slice_pitch : least_slice;
  std::uint64_t rows = 0;
  std::uint64_t slices = 0;
  std::uint64_t offset = origin[0];
  if (__builtin_mul_overflow(row, std::uint64_t{origin[1]}, &rows) || __builtin_mul_overflow(slice, std::uint64_t{origin[2]}, &slices) ||
      __builtin_add_overflow(offset, rows, &offset) || __builtin_add_overflow(offset, slices, &offset)) {
    return CL_INVALID_VALUE;
  }
  rect = {offset, region[0], region[1], region[2], row, slice};
  return CL_SUCCESS;
}

cl_int rect_within(const protocol::BufferRect& rect, std::uint64_t buffer_bytes) {
  return protocol::check_within(rect, buffer_bytes) ? CL_SUCCESS : CL_INVALID_VALUE;
}

cl_int copy_overlap(const protocol::BufferRect& source, const protocol::BufferRect& destination) {
  if (end_of(source) <= destination.offset || end_of(destination) <= source.offset) {
    return CL_SUCCESS;
  }
  if (source.row_pitch != destination.row_pitch || source.slice_pitch != destination.slice_pitch) {
    return CL_MEM_COPY_OVERLAP;
  }
  // Side by side: each row of one lies in the gap between two rows of the other; likewise for whole slices.
  const std::uint64_t row = source.row_pitch;
  if (apart_in_period(source.offset % row, destination.offset % row, source.width_bytes, row)) {
    return CL_SUCCESS;
  }
  const std::uint64_t slice = source.slice_pitch;
  const std::uint64_t slice_bytes = (source.height - 1) * row + source.width_bytes;
  return apart_in_period(source.offset % slice, destination.offset % slice, slice_bytes, slice) ? CL_SUCCESS : CL_MEM_COPY_OVERLAP;
}

cl_int same_pitches(const protocol::BufferRect& source, const protocol::BufferRect& destination) {
  return source.row_pitch == destination.row_pitch && source.slice_pitch == destination.slice_pitch ? CL_SUCCESS : CL_INVALID_VALUE;
}

} // namespace farcl::driver::validate
