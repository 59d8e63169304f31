// What the enqueue_*.cpp files share: looking up handles, the steps that every command takes.
#pragma once

#include "driver/icd/guard.hpp"
#include "driver/objects/event.hpp"
#include "driver/objects/memory.hpp"
#include "driver/objects/queue.hpp"
#include "driver/session/session.hpp"
#include "driver/validate/device_limits.hpp"
#include "driver/validate/lists.hpp"
#include "driver/validate/memory.hpp"

#include <optional>

namespace farcl::driver {

/// A queue and a buffer of the same context: CL_INVALID_COMMAND_QUEUE, CL_INVALID_MEM_OBJECT or CL_INVALID_CONTEXT.
[[nodiscard]] cl_int find(cl_command_queue queue, cl_mem buffer, CommandQueue*& queue_out, Mem*& buffer_out);

/// CL_MISALIGNED_SUB_BUFFER_OFFSET for the queue's device.
[[nodiscard]] cl_int check_alignment(const CommandQueue& queue, const Mem& buffer);

/// The parameters that end every enqueue call.
struct EventParameters {
  cl_uint count = 0;
  const cl_event* wait_list = nullptr;
  cl_event* event = nullptr;

  [[nodiscard]] WaitList list() const noexcept { return {count, wait_list}; }
};

/// Submits a message (any enqueue message of the protocol) as a command of `type` and hands its event out.
template <class Message>
cl_int submit(CommandQueue& queue, Message& message, const EventParameters& events, cl_command_type type) {
  Event* made = nullptr;
  const cl_int code = queue.session().submit(queue, message, events.list(), type, events.event != nullptr ? &made : nullptr);
  if (events.event != nullptr && code == CL_SUCCESS) {
    *events.event = made->handle();
  }
  return code;
}

/// A command that does nothing but wait: markers, and commands on empty ranges.
cl_int submit_marker(CommandQueue& queue, bool barrier, const EventParameters& events, cl_command_type type);

/// Reads `rect` of the buffer into `box`. A blocking read returns with the data there. `keep_alive` holds the memory of the box
/// if it is not the program's.
cl_int read_buffer(CommandQueue& queue, Mem& buffer, const protocol::BufferRect& rect, const HostBox& box, bool blocking,
                   const EventParameters& events, cl_command_type type, std::shared_ptr<const void> keep_alive = nullptr);

/// Writes `box` to `rect` of the buffer. A blocking write returns with the program's memory free for other use.
cl_int write_buffer(CommandQueue& queue, Mem& buffer, const protocol::BufferRect& rect, const HostBox& box, bool blocking,
                    const EventParameters& events, cl_command_type type, std::shared_ptr<const void> keep_alive = nullptr);

// The same for buffers in memory that the server shares (enqueue_direct.cpp). Nothing: it has to go through the server.
std::optional<cl_int> write_direct(CommandQueue& queue, Mem& buffer, const protocol::BufferRect& rect, const HostBox& box,
                                   const EventParameters& events, cl_command_type type);
std::optional<cl_int> read_direct(CommandQueue& queue, Mem& buffer, const protocol::BufferRect& rect, const HostBox& box, bool blocking,
                                  const EventParameters& events, cl_command_type type);
/// Maps the range `wanted` (its pointer is not set) where it is.
std::optional<ApiResult<void*>> map_in_place(CommandQueue& queue, Mem& buffer, const Mapping& wanted, bool blocking,
                                             const EventParameters& events);

} // namespace farcl::driver
