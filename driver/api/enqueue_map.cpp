// Mapping: a buffer in shared memory is mapped where it is. Of others a map without CL_MAP_WRITE_INVALIDATE_REGION fetches the range, an
// unmap sends it back if it was mapped for writing.
#include "driver/api/enqueue.hpp"
#include "driver/session/callback_thread.hpp"

namespace farcl::driver {
namespace {

constexpr cl_map_flags kWriting = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

/// Keeps a buffer (whose destructor callback may free the memory that is being sent). The last reference must not be dropped
/// where the transfer ends, under the session's lock, so it goes to the callback thread.
std::shared_ptr<const void> keep_buffer(Mem& buffer) {
  auto reference = std::make_shared<Ref<Mem>>(&buffer);
  const void* key = reference.get();
  return {key, [reference = std::move(reference)](const void*) mutable { post_callback([last = std::move(reference)] {}); }};
}

cl_int check_map(const CommandQueue& queue, const Mem& buffer, cl_map_flags flags, std::size_t offset, std::size_t size,
                 const EventParameters& events, bool blocking) {
  if (const cl_int code = validate::map_range(buffer.size_bytes(), flags, offset, size); code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = validate::host_access(buffer.flags(), (flags & CL_MAP_READ) != 0, (flags & kWriting) != 0); code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = validate::wait_list(queue.context(), events.count, events.wait_list); code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = check_alignment(queue, buffer); code != CL_SUCCESS) {
    return code;
  }
  return blocking ? validate::failed_events(events.count, events.wait_list) : CL_SUCCESS;
}

/// Brings the range to the host, if the program wants to see what is in it.
cl_int fetch(CommandQueue& queue, Mem& buffer, const Mapping& mapping, bool blocking, const EventParameters& events) {
  if ((mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0) {
    return read_buffer(queue, buffer, protocol::BufferRect::linear(mapping.offset, mapping.size_bytes),
                       HostBox::linear(mapping.pointer, mapping.size_bytes), blocking, events, CL_COMMAND_MAP_BUFFER, mapping.shadow);
  }
  if (blocking && events.count != 0) {
    if (const cl_int code = queue.session().wait_for_events(events.list()); code != CL_SUCCESS) {
      return code;
    }
  }
  return submit_marker(queue, false, events, CL_COMMAND_MAP_BUFFER);
}

} // namespace

namespace entry {

void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue_handle, cl_mem buffer_handle, cl_bool blocking, cl_map_flags flags,
                                     size_t offset, size_t size, cl_uint count, const cl_event* wait_list, cl_event* event,
                                     cl_int* errcode_ret) {
  return guard_create(Entry::clEnqueueMapBuffer, errcode_ret, [&]() -> ApiResult<void*> {
    CommandQueue* queue = nullptr;
    Mem* buffer = nullptr;
    if (const cl_int code = find(queue_handle, buffer_handle, queue, buffer); code != CL_SUCCESS) {
      return api_error(code);
    }
    const EventParameters events{count, wait_list, event};
    if (const cl_int code = check_map(*queue, *buffer, flags, offset, size, events, blocking != CL_FALSE); code != CL_SUCCESS) {
      return api_error(code);
    }
    const Mapping wanted{nullptr, offset, size, flags, false, nullptr};
    if (auto mapped = map_in_place(*queue, *buffer, wanted, blocking != CL_FALSE, events)) {
      return *mapped;
    }
    Mapping mapping = buffer->make_mapping(offset, size, flags);
    void* pointer = mapping.pointer;
    buffer->add_mapping(mapping); // before the command: its completion may be seen at once
    if (const cl_int code = fetch(*queue, *buffer, mapping, blocking != CL_FALSE, events); code != CL_SUCCESS) {
      (void)buffer->take_mapping(pointer);
      return api_error(code);
    }
    return pointer;
  });
}

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue_handle, cl_mem buffer_handle, void* mapped_ptr, cl_uint count,
                                           const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueUnmapMemObject, [&]() -> cl_int {
    CommandQueue* queue = nullptr;
    Mem* buffer = nullptr;
    if (const cl_int code = find(queue_handle, buffer_handle, queue, buffer); code != CL_SUCCESS) {
      return code;
    }
    const EventParameters events{count, wait_list, event};
    if (mapped_ptr == nullptr || !buffer->has_mapping(mapped_ptr)) {
      return CL_INVALID_VALUE;
    }
    if (const cl_int code = validate::wait_list(queue->context(), count, wait_list); code != CL_SUCCESS) {
      return code;
    }
    const Mapping mapping = buffer->take_mapping(mapped_ptr);
    if (mapping.in_place && events.event == nullptr && events.count == 0) {
      return CL_SUCCESS; // what was written is there, and commands that follow come behind it
    }
    if (mapping.in_place || (mapping.flags & kWriting) == 0) {
      return submit_marker(*queue, false, events, CL_COMMAND_UNMAP_MEM_OBJECT);
    }
    std::shared_ptr<const void> keep_alive = mapping.shadow;
    if (!keep_alive) {
      keep_alive = keep_buffer(*buffer);
    }
    return write_buffer(*queue, *buffer, protocol::BufferRect::linear(mapping.offset, mapping.size_bytes),
                        HostBox::linear(mapping.pointer, mapping.size_bytes), false, events, CL_COMMAND_UNMAP_MEM_OBJECT,
                        std::move(keep_alive));
  });
}

} // namespace entry
} // namespace farcl::driver
