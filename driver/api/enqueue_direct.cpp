// Transfers and mappings of buffers in memory that the server shares: the program's thread does them itself.
//
// A write or read of an idle buffer is one memcpy, at once, and nobody can tell it from one that waited for its turn: no command that is
// open uses the buffer, the wait list is complete, and no earlier transfer needs the program's memory. Whoever wants an event gets it
// from a marker in its place, but for queues with profiling, where the times must be those of the transfer. In an out-of-order queue a
// marker without a wait list would wait for commands that the transfer need not wait for, so there the server does it as well.
#include "driver/api/enqueue.hpp"

#include <algorithm>
#include <cstring>

namespace farcl::driver {

namespace {
using Way = ServerSession::Direction;

/// The part of the buffer's memory that a transfer is about, as a box.
HostBox box_in_buffer(std::byte* first, const protocol::BufferRect& rect) {
  return {first, rect.width_bytes, rect.height, rect.depth, rect.row_pitch, rect.slice_pitch};
}

std::uint64_t extent(const protocol::BufferRect& rect) {
  return (rect.depth - 1) * rect.slice_pitch + (rect.height - 1) * rect.row_pitch + rect.width_bytes;
}

void copy_box(const HostBox& to, const HostBox& from) {
  if (to.is_linear() && from.is_linear()) {
    std::memcpy(to.base, from.base, to.size_bytes());
    return;
  }
  for (std::uint64_t z = 0; z < to.depth; ++z) {
    for (std::uint64_t y = 0; y < to.height; ++y) {
      std::memcpy(to.base + z * to.slice_pitch + y * to.row_pitch, from.base + z * from.slice_pitch + y * from.row_pitch, to.width_bytes);
    }
  }
}

bool copy_now(Mem& buffer, const protocol::BufferRect& rect, const HostBox& box, Way way, const EventParameters& events) {
  const auto access = buffer.session().try_direct(*buffer.placement(), box, way, events.list());
  if (!access) {
    return false;
  }
  const HostBox inside = box_in_buffer(access.memory(buffer.origin() + rect.offset, extent(rect)), rect);
  way == Way::kToBuffer ? copy_box(inside, box) : copy_box(box, inside);
  return true;
}

/// True when a marker can stand for the transfer, or nobody asks for an event.
bool event_is_a_marker_s(const CommandQueue& queue, const EventParameters& events) {
  return events.event == nullptr || (!queue.profiling() && (!queue.out_of_order() || events.count != 0));
}

cl_int take_failure(CommandQueue& queue) { return queue.take_hidden_failure() == CL_SUCCESS ? CL_SUCCESS : CL_OUT_OF_RESOURCES; }

/// Everything that stands before a blocking command in an in-order queue has run when the call returns, and its failures are told.
cl_int catch_up(CommandQueue& queue) {
  return queue.session().queue_is_answered(queue) ? take_failure(queue) : queue.session().finish(queue);
}
} // namespace

std::optional<cl_int> write_direct(CommandQueue& queue, Mem& buffer, const protocol::BufferRect& rect, const HostBox& box,
                                   const EventParameters& events, cl_command_type type) {
  if (buffer.placement() == nullptr || !event_is_a_marker_s(queue, events) || !copy_now(buffer, rect, box, Way::kToBuffer, events)) {
    return std::nullopt;
  }
  return events.event == nullptr ? CL_SUCCESS : submit_marker(queue, false, events, type);
}

std::optional<cl_int> read_direct(CommandQueue& queue, Mem& buffer, const protocol::BufferRect& rect, const HostBox& box, bool blocking,
                                  const EventParameters& events, cl_command_type type) {
  ServerSession& session = queue.session();
  if (buffer.placement() == nullptr || !event_is_a_marker_s(queue, events) || (blocking && events.event != nullptr)) {
    return std::nullopt;
  }
  if (!blocking) {
    return copy_now(buffer, rect, box, Way::kFromBuffer, events)
               ? std::optional(events.event == nullptr ? CL_SUCCESS : submit_marker(queue, false, events, type))
               : std::nullopt;
  }
  if (!queue.out_of_order()) {
    if (!session.is_idle_behind(*buffer.placement(), queue, events.list())) {
      return std::nullopt;
    }
    if (const cl_int code = catch_up(queue); code != CL_SUCCESS) {
      return code;
    }
  }
  return copy_now(buffer, rect, box, Way::kFromBuffer, events) ? std::optional(take_failure(queue)) : std::nullopt;
}

std::optional<ApiResult<void*>> map_in_place(CommandQueue& queue, Mem& buffer, const Mapping& wanted, bool blocking,
                                             const EventParameters& events) {
  ServerSession& session = queue.session();
  if (buffer.placement() == nullptr || buffer.host_ptr() != nullptr || queue.out_of_order() || buffer.has_shadow()) {
    return std::nullopt;
  }
  const bool placed = session.placed_memory(*buffer.placement()) != nullptr;
  if (!placed && (!blocking || events.event != nullptr)) {
    return std::nullopt;
  }
  if (blocking && events.count != 0) {
    if (const cl_int code = session.wait_for_events(events.list()); code != CL_SUCCESS) {
      return api_error(code);
    }
  }
  if (events.event != nullptr || !placed || (!blocking && events.count != 0)) {
    if (const cl_int code = submit_marker(queue, false, events, CL_COMMAND_MAP_BUFFER); code != CL_SUCCESS) {
      return api_error(code);
    }
  }
  if (blocking) {
    if (const cl_int code = catch_up(queue); code != CL_SUCCESS) { // behind it the place of a new buffer is known too
      if (events.event != nullptr) {
        (void)Event::from(*events.event)->release_api();
      }
      return api_error(code);
    }
  }
  std::byte* const memory = session.placed_memory(*buffer.placement());
  if (memory == nullptr) {
    return std::nullopt;
  }
  Mapping mapping = wanted;
  mapping.in_place = true;
  mapping.pointer = memory + buffer.origin() + wanted.offset;
  void* const pointer = mapping.pointer;
  buffer.add_mapping(std::move(mapping));
  return pointer;
}

} // namespace farcl::driver
