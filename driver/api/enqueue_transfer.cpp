// Reads and writes: how bytes come and go. The entry points on top are in enqueue_read_write.cpp and enqueue_map.cpp.
#include "driver/api/enqueue.hpp"

#include <cstring>

namespace farcl::driver {

cl_int find(cl_command_queue queue, cl_mem buffer, CommandQueue*& queue_out, Mem*& buffer_out) {
  queue_out = CommandQueue::from(queue);
  if (queue_out == nullptr) {
    return CL_INVALID_COMMAND_QUEUE;
  }
  buffer_out = Mem::from(buffer);
  if (buffer_out == nullptr) {
    return CL_INVALID_MEM_OBJECT;
  }
  return &queue_out->context() == &buffer_out->context() ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int check_alignment(const CommandQueue& queue, const Mem& buffer) {
  return buffer.parent() == nullptr ? CL_SUCCESS
                                    : validate::sub_buffer_alignment(buffer.origin(), queue.device().number(CL_DEVICE_MEM_BASE_ADDR_ALIGN));
}

cl_int submit_marker(CommandQueue& queue, bool barrier, const EventParameters& events, cl_command_type type) {
  protocol::EnqueueMarker message;
  message.barrier = barrier;
  return submit(queue, message, events, type);
}

namespace {

/// A failed event in the list of a blocking command is known before anything is sent. 1 round trip if one is open.
cl_int settle_wait_list(CommandQueue& queue, const EventParameters& events) {
  return events.count == 0 ? CL_SUCCESS : queue.session().wait_for_events(events.list());
}

/// The next transfer of a buffer that may be in shared memory finds out that this one has ended.
void leave_checkpoint(CommandQueue& queue, const Mem& buffer) {
  if (buffer.placement() != nullptr) {
    queue.session().leave_checkpoint(queue);
  }
}

cl_int hand_out(cl_int code, Event* made, cl_event* event) {
  if (event == nullptr) {
    return code;
  }
  if (code == CL_SUCCESS) {
    *event = made->handle();
  } else if (made != nullptr) {
    (void)made->release_api(); // a failed blocking command has no event
  }
  return code;
}

} // namespace

cl_int read_buffer(CommandQueue& queue, Mem& buffer, const protocol::BufferRect& rect, const HostBox& box, bool blocking,
                   const EventParameters& events, cl_command_type type, std::shared_ptr<const void> keep_alive) {
  if (box.size_bytes() == 0) {
    return submit_marker(queue, false, events, type);
  }
  if (const auto done = read_direct(queue, buffer, rect, box, blocking, events, type)) {
    return *done;
  }
  ServerSession& session = queue.session();
  protocol::EnqueueRead message;
  message.buffer = buffer.id();
  message.rect = rect;
  message.transfer = session.new_id<protocol::TransferId>();
  Event* made = nullptr;
  Event** event = events.event != nullptr ? &made : nullptr;
  if (blocking) {
    IncomingRead read(box);
    cl_int code = session.submit_read(queue, message, read, events.list(), type, event);
    if (code == CL_SUCCESS) {
      code = session.wait_for_read(queue, read, made);
    }
    return hand_out(code, made, events.event);
  }
  auto read = std::make_unique<IncomingRead>(box);
  read->owned_by_session = true;
  read->queue = Ref<CommandQueue>(&queue);
  read->has_event = event != nullptr;
  read->keep_alive = std::move(keep_alive);
  const cl_int code = session.submit_read(queue, message, *read, events.list(), type, event);
  if (code == CL_SUCCESS) {
    (void)read.release(); // the session's now
    leave_checkpoint(queue, buffer);
  }
  return hand_out(code, made, events.event);
}

namespace {

std::shared_ptr<std::byte[]> copy_of(const HostBox& box) {
  std::shared_ptr<std::byte[]> copy(new std::byte[box.size_bytes()]); // not initialised
  box.gather(MutableBytes(copy.get(), box.size_bytes()));
  return copy;
}

/// Up to kMaxInlineBytes: the bytes are encoded into the message, so the memory is free again.
cl_int write_inline(CommandQueue& queue, protocol::EnqueueWrite& message, const HostBox& box, const EventParameters& events,
                    cl_command_type type) {
  if (box.is_linear()) {
    message.data = ConstBytes(box.base, box.size_bytes());
    return submit(queue, message, events, type);
  }
  ByteVector bytes(box.size_bytes());
  box.gather(bytes);
  message.data = bytes;
  return submit(queue, message, events, type);
}

} // namespace

cl_int write_buffer(CommandQueue& queue, Mem& buffer, const protocol::BufferRect& rect, const HostBox& box, bool blocking,
                    const EventParameters& events, cl_command_type type, std::shared_ptr<const void> keep_alive) {
  if (box.size_bytes() == 0) {
    return submit_marker(queue, false, events, type);
  }
  ServerSession& session = queue.session();
  if (blocking) {
    if (const cl_int code = settle_wait_list(queue, events); code != CL_SUCCESS) {
      return code;
    }
  }
  if (const auto done = write_direct(queue, buffer, rect, box, events, type)) {
    return *done;
  }
  // Reads that have not arrived may still write to this memory: a program that passes data on through host memory.
  std::vector<protocol::TransferId> reads = session.open_reads_into(box);
  if (!reads.empty() && (blocking || !box.is_linear())) {
    session.wait_for_reads(reads);
    reads.clear();
  }
  protocol::EnqueueWrite message;
  message.buffer = buffer.id();
  message.rect = rect;
  const std::uint64_t size = box.size_bytes();
  if (size <= protocol::kMaxInlineBytes && reads.empty()) {
    const cl_int code = write_inline(queue, message, box, events, type);
    leave_checkpoint(queue, buffer);
    return code;
  }
  message.transfer = session.new_id<protocol::TransferId>();
  if (const cl_int code = submit(queue, message, events, type); code != CL_SUCCESS) {
    return code;
  }
  leave_checkpoint(queue, buffer);
  if (!box.is_linear() || (blocking && size <= kInlineCopyBytes)) {
    auto copy = copy_of(box);
    const ConstBytes bytes(copy.get(), size);
    session.send_bulk(message.transfer, bytes, std::move(copy));
    return CL_SUCCESS;
  }
  const ConstBytes bytes(box.base, size);
  if (blocking) {
    return session.send_bulk_and_wait(message.transfer, bytes);
  }
  session.send_bulk(message.transfer, bytes, std::move(keep_alive), std::move(reads));
  return CL_SUCCESS;
}

} // namespace farcl::driver
