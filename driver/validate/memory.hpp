// Checks of buffers and of the ranges that commands touch. Pure functions: each returns CL_SUCCESS or the first error in the
// order of the specification.
#pragma once

#include "driver/icd/opencl.hpp"
#include "farcl/protocol/messages/enqueue.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace farcl::driver::validate {

/// Flags of clCreateBuffer: known ones, and no two that exclude each other.
[[nodiscard]] cl_int buffer_flags(cl_mem_flags flags);
/// clCreateBufferWithProperties: no property is supported, so the list must be null or empty.
[[nodiscard]] cl_int buffer_properties(const cl_mem_properties* properties);
/// `max_alloc_bytes`: the largest CL_DEVICE_MAX_MEM_ALLOC_SIZE of the context's devices.
[[nodiscard]] cl_int create_buffer(cl_mem_flags flags, std::size_t size_bytes, const void* host_ptr, std::uint64_t max_alloc_bytes);

struct SubBufferParent {
  cl_mem_flags flags = 0;
  std::uint64_t size_bytes = 0;
  bool is_sub_buffer = false;
};
/// `alignments`: CL_DEVICE_MEM_BASE_ADDR_ALIGN of each device of the context, in bits as the query gives it.
[[nodiscard]] cl_int create_sub_buffer(const SubBufferParent& parent, cl_mem_flags flags, cl_buffer_create_type type, const void* info,
                                       std::span<const std::uint64_t> alignments_bits);
/// What CL_MEM_FLAGS of a sub-buffer says: what `flags` leaves open comes from the parent.
[[nodiscard]] cl_mem_flags sub_buffer_flags(cl_mem_flags parent_flags, cl_mem_flags flags);
/// CL_MISALIGNED_SUB_BUFFER_OFFSET when a sub-buffer's origin does not suit the device of the queue. 0 bits: no demand.
[[nodiscard]] cl_int sub_buffer_alignment(std::uint64_t origin, std::uint64_t alignment_bits);

/// CL_INVALID_OPERATION when CL_MEM_HOST_* forbids it. Maps for writing and clEnqueueWrite* write, clEnqueueRead* and maps for reading
/// read.
[[nodiscard]] cl_int host_access(cl_mem_flags flags, bool reads, bool writes);

/// clEnqueueReadBuffer, clEnqueueWriteBuffer. An empty range is legal: the command then only waits and completes.
[[nodiscard]] cl_int transfer_range(std::uint64_t buffer_bytes, std::size_t offset, std::size_t size_bytes, const void* ptr);
/// clEnqueueCopyBuffer. An empty range is legal here too.
[[nodiscard]] cl_int copy_ranges(std::uint64_t source_bytes, std::uint64_t destination_bytes, std::size_t source_offset,
                                 std::size_t destination_offset, std::size_t size_bytes);
[[nodiscard]] cl_int fill_range(std::uint64_t buffer_bytes, const void* pattern, std::size_t pattern_bytes, std::size_t offset,
                                std::size_t size_bytes);
[[nodiscard]] cl_int map_range(std::uint64_t buffer_bytes, cl_map_flags flags, std::size_t offset, std::size_t size_bytes);
[[nodiscard]] cl_int migration_flags(cl_mem_migration_flags flags);

/// Makes the rect of one side of a rect command: pitches of 0 get their default. CL_INVALID_VALUE as the specification says.
/// It does not look at any buffer's size: rect_within does.
[[nodiscard]] cl_int make_rect(const std::size_t* origin, const std::size_t* region, std::size_t row_pitch, std::size_t slice_pitch,
                               protocol::BufferRect& rect);
[[nodiscard]] cl_int rect_within(const protocol::BufferRect& rect, std::uint64_t buffer_bytes);

/// CL_MEM_COPY_OVERLAP when both regions, inside the same memory, share a byte. Offsets count from the start of that memory: add the
/// origin of sub-buffers first. Exact for equal pitches; for different ones regions overlap when their first and last bytes do.
[[nodiscard]] cl_int copy_overlap(const protocol::BufferRect& source, const protocol::BufferRect& destination);
/// clEnqueueCopyBufferRect within one buffer: both sides have the same pitches.
[[nodiscard]] cl_int same_pitches(const protocol::BufferRect& source, const protocol::BufferRect& destination);

} // namespace farcl::driver::validate
