// clEnqueueReadBuffer, clEnqueueWriteBuffer and their rect forms.
#include "driver/api/enqueue.hpp"

namespace farcl::driver {
namespace {

enum class Direction { kRead, kWrite };

/// What both directions check, in the order of the specification.
cl_int check(const CommandQueue& queue, const Mem& buffer, Direction direction, const EventParameters& events) {
  if (const cl_int code = validate::host_access(buffer.flags(), direction == Direction::kRead, direction == Direction::kWrite);
      code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = validate::wait_list(queue.context(), events.count, events.wait_list); code != CL_SUCCESS) {
    return code;
  }
  return check_alignment(queue, buffer);
}

cl_int transfer(CommandQueue& queue, Mem& buffer, Direction direction, const protocol::BufferRect& rect, const HostBox& box,
                cl_bool blocking, const EventParameters& events, cl_command_type type) {
  if (blocking != CL_FALSE) {
    if (const cl_int code = validate::failed_events(events.count, events.wait_list); code != CL_SUCCESS) {
      return code;
    }
  }
  return direction == Direction::kRead ? read_buffer(queue, buffer, rect, box, blocking != CL_FALSE, events, type)
                                       : write_buffer(queue, buffer, rect, box, blocking != CL_FALSE, events, type);
}

cl_int transfer_linear(cl_command_queue queue_handle, cl_mem buffer_handle, Direction direction, cl_bool blocking, std::size_t offset,
                       std::size_t size, void* ptr, const EventParameters& events) {
  CommandQueue* queue = nullptr;
  Mem* buffer = nullptr;
  if (const cl_int code = find(queue_handle, buffer_handle, queue, buffer); code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = validate::transfer_range(buffer->size_bytes(), offset, size, ptr); code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = check(*queue, *buffer, direction, events); code != CL_SUCCESS) {
    return code;
  }
  return transfer(*queue, *buffer, direction, protocol::BufferRect::linear(offset, size), HostBox::linear(ptr, size), blocking, events,
                  direction == Direction::kRead ? CL_COMMAND_READ_BUFFER : CL_COMMAND_WRITE_BUFFER);
}

struct RectParameters {
  const std::size_t* buffer_origin;
  const std::size_t* host_origin;
  const std::size_t* region;
  std::size_t buffer_row_pitch;
  std::size_t buffer_slice_pitch;
  std::size_t host_row_pitch;
  std::size_t host_slice_pitch;
};

cl_int transfer_rect(cl_command_queue queue_handle, cl_mem buffer_handle, Direction direction, cl_bool blocking, const RectParameters& p,
                     void* ptr, const EventParameters& events) {
  CommandQueue* queue = nullptr;
  Mem* buffer = nullptr;
  if (const cl_int code = find(queue_handle, buffer_handle, queue, buffer); code != CL_SUCCESS) {
    return code;
  }
  protocol::BufferRect rect;
  protocol::BufferRect host;
  if (const cl_int code = validate::make_rect(p.buffer_origin, p.region, p.buffer_row_pitch, p.buffer_slice_pitch, rect);
      code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = validate::make_rect(p.host_origin, p.region, p.host_row_pitch, p.host_slice_pitch, host); code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = validate::rect_within(rect, buffer->size_bytes()); code != CL_SUCCESS) {
    return code;
  }
  if (ptr == nullptr) {
    return CL_INVALID_VALUE;
  }
  if (const cl_int code = check(*queue, *buffer, direction, events); code != CL_SUCCESS) {
    return code;
  }
  const HostBox box{
      static_cast<std::byte*>(ptr) + host.offset, host.width_bytes, host.height, host.depth, host.row_pitch, host.slice_pitch};
  return transfer(*queue, *buffer, direction, rect, box, blocking, events,
                  direction == Direction::kRead ? CL_COMMAND_READ_BUFFER_RECT : CL_COMMAND_WRITE_BUFFER_RECT);
}

} // namespace

namespace entry {

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void* ptr,
                                       cl_uint count, const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueReadBuffer,
               [&] { return transfer_linear(queue, buffer, Direction::kRead, blocking, offset, size, ptr, {count, wait_list, event}); });
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                        const void* ptr, cl_uint count, const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueWriteBuffer, [&] {
    return transfer_linear(queue, buffer, Direction::kWrite, blocking, offset, size, const_cast<void*>(ptr), {count, wait_list, event});
  });
}

cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* buffer_origin,
                                           const size_t* host_origin, const size_t* region, size_t buffer_row_pitch,
                                           size_t buffer_slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, void* ptr,
                                           cl_uint count, const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueReadBufferRect, [&] {
    return transfer_rect(queue, buffer, Direction::kRead, blocking,
                         {buffer_origin, host_origin, region, buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch}, ptr,
                         {count, wait_list, event});
  });
}

cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* buffer_origin,
                                            const size_t* host_origin, const size_t* region, size_t buffer_row_pitch,
                                            size_t buffer_slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, const void* ptr,
                                            cl_uint count, const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueWriteBufferRect, [&] {
    return transfer_rect(queue, buffer, Direction::kWrite, blocking,
                         {buffer_origin, host_origin, region, buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch},
                         const_cast<void*>(ptr), {count, wait_list, event});
  });
}

} // namespace entry
} // namespace farcl::driver
