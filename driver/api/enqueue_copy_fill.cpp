// Commands that stay on the server: copies, fills, migrations.
#include "driver/api/enqueue.hpp"

namespace farcl::driver {
namespace {

/// The memory that a (sub-)buffer's bytes belong to, and the rect in it.
const Mem* whole(const Mem& buffer) { return buffer.parent() != nullptr ? buffer.parent() : &buffer; }
protocol::BufferRect in_whole(const Mem& buffer, protocol::BufferRect rect) {
  rect.offset += buffer.origin();
  return rect;
}

struct Copy {
  CommandQueue* queue = nullptr;
  Mem* source = nullptr;
  Mem* destination = nullptr;
};

cl_int find_both(cl_command_queue queue, cl_mem source, cl_mem destination, Copy& copy) {
  copy.queue = CommandQueue::from(queue);
  copy.source = Mem::from(source);
  copy.destination = Mem::from(destination);
  if (copy.queue == nullptr) {
    return CL_INVALID_COMMAND_QUEUE;
  }
  if (copy.source == nullptr || copy.destination == nullptr) {
    return CL_INVALID_MEM_OBJECT;
  }
  if (&copy.source->context() != &copy.queue->context() || &copy.destination->context() != &copy.queue->context()) {
    return CL_INVALID_CONTEXT;
  }
  if (const cl_int code = check_alignment(*copy.queue, *copy.source); code != CL_SUCCESS) {
    return code;
  }
  return check_alignment(*copy.queue, *copy.destination);
}

cl_int submit_copy(const Copy& copy, const protocol::BufferRect& source, const protocol::BufferRect& destination,
                   const EventParameters& events, cl_command_type type) {
  if (const cl_int code = validate::wait_list(copy.queue->context(), events.count, events.wait_list); code != CL_SUCCESS) {
    return code;
  }
  if (source.width_bytes == 0) {
    return submit_marker(*copy.queue, false, events, type);
  }
  if (whole(*copy.source) == whole(*copy.destination)) {
    const cl_int code = validate::copy_overlap(in_whole(*copy.source, source), in_whole(*copy.destination, destination));
    if (code != CL_SUCCESS) {
      return code;
    }
  }
  protocol::EnqueueCopy message;
  message.source = copy.source->id();
  message.destination = copy.destination->id();
  message.source_rect = source;
  message.destination_rect = destination;
  return submit(*copy.queue, message, events, type);
}

} // namespace

namespace entry {

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem source, cl_mem destination, size_t source_offset,
                                       size_t destination_offset, size_t size, cl_uint count, const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueCopyBuffer, [&]() -> cl_int {
    Copy copy;
    if (const cl_int code = find_both(queue, source, destination, copy); code != CL_SUCCESS) {
      return code;
    }
    const cl_int code =
        validate::copy_ranges(copy.source->size_bytes(), copy.destination->size_bytes(), source_offset, destination_offset, size);
    if (code != CL_SUCCESS) {
      return code;
    }
    return submit_copy(copy, protocol::BufferRect::linear(source_offset, size), protocol::BufferRect::linear(destination_offset, size),
                       {count, wait_list, event}, CL_COMMAND_COPY_BUFFER);
  });
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem source, cl_mem destination, const size_t* source_origin,
                                           const size_t* destination_origin, const size_t* region, size_t source_row_pitch,
                                           size_t source_slice_pitch, size_t destination_row_pitch, size_t destination_slice_pitch,
                                           cl_uint count, const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueCopyBufferRect, [&]() -> cl_int {
    Copy copy;
    if (const cl_int code = find_both(queue, source, destination, copy); code != CL_SUCCESS) {
      return code;
    }
    protocol::BufferRect from;
    protocol::BufferRect to;
    if (const cl_int code = validate::make_rect(source_origin, region, source_row_pitch, source_slice_pitch, from); code != CL_SUCCESS) {
      return code;
    }
    if (const cl_int code = validate::make_rect(destination_origin, region, destination_row_pitch, destination_slice_pitch, to);
        code != CL_SUCCESS) {
      return code;
    }
    if (const cl_int code = validate::rect_within(from, copy.source->size_bytes()); code != CL_SUCCESS) {
      return code;
    }
    if (const cl_int code = validate::rect_within(to, copy.destination->size_bytes()); code != CL_SUCCESS) {
      return code;
    }
    if (copy.source == copy.destination) {
      if (const cl_int code = validate::same_pitches(from, to); code != CL_SUCCESS) {
        return code;
      }
    }
    return submit_copy(copy, from, to, {count, wait_list, event}, CL_COMMAND_COPY_BUFFER_RECT);
  });
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue_handle, cl_mem buffer_handle, const void* pattern, size_t pattern_size,
                                       size_t offset, size_t size, cl_uint count, const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueFillBuffer, [&]() -> cl_int {
    CommandQueue* queue = nullptr;
    Mem* buffer = nullptr;
    if (const cl_int code = find(queue_handle, buffer_handle, queue, buffer); code != CL_SUCCESS) {
      return code;
    }
    if (const cl_int code = validate::fill_range(buffer->size_bytes(), pattern, pattern_size, offset, size); code != CL_SUCCESS) {
      return code;
    }
    const EventParameters events{count, wait_list, event};
    if (const cl_int code = validate::wait_list(queue->context(), count, wait_list); code != CL_SUCCESS) {
      return code;
    }
    if (const cl_int code = check_alignment(*queue, *buffer); code != CL_SUCCESS) {
      return code;
    }
    if (size == 0) {
      return submit_marker(*queue, false, events, CL_COMMAND_FILL_BUFFER);
    }
    protocol::EnqueueFill message;
    message.buffer = buffer->id();
    message.offset = offset;
    message.size_bytes = size;
    message.pattern = ConstBytes(static_cast<const std::byte*>(pattern), pattern_size);
    return submit(*queue, message, events, CL_COMMAND_FILL_BUFFER);
  });
}

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue_handle, cl_uint num_objects, const cl_mem* objects,
                                              cl_mem_migration_flags flags, cl_uint count, const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueMigrateMemObjects, [&]() -> cl_int {
    CommandQueue* queue = CommandQueue::from(queue_handle);
    if (queue == nullptr) {
      return CL_INVALID_COMMAND_QUEUE;
    }
    if (num_objects == 0 || objects == nullptr) {
      return CL_INVALID_VALUE;
    }
    if (const cl_int code = validate::migration_flags(flags); code != CL_SUCCESS) {
      return code;
    }
    for (cl_uint i = 0; i < num_objects; ++i) {
      if (Mem::from(objects[i]) == nullptr) {
        return CL_INVALID_MEM_OBJECT;
      }
    }
    for (cl_uint i = 0; i < num_objects; ++i) {
      if (&Mem::from(objects[i])->context() != &queue->context()) {
        return CL_INVALID_CONTEXT;
      }
    }
    if (const cl_int code = validate::wait_list(queue->context(), count, wait_list); code != CL_SUCCESS) {
      return code;
    }
    // All of a context's buffers live on its one server: there is nothing to move.
    return submit_marker(*queue, false, {count, wait_list, event}, CL_COMMAND_MIGRATE_MEM_OBJECTS);
  });
}

} // namespace entry
} // namespace farcl::driver
