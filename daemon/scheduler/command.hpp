// Command: one enqueued command of a queue, a user event or the pending initial contents of a buffer: a node of the scheduler's
// graph together with what has to be done when its turn comes.
//
// Owned by the scheduler's pool and recycled there; a Command& is valid until Runner::completed has returned for it.
#pragma once

#include "daemon/device/device.hpp"
#include "daemon/session/budget.hpp"
#include "farcl/protocol/ids.hpp"

#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace farcl::daemon {

struct Buffer;
struct Command;

/// An in-order or out-of-order queue, as the scheduler sees it. `last`, `sync` and `barrier` point to commands that are not
/// complete, or are null.
struct Queue {
  protocol::QueueId id;
  protocol::ContextId context;
  Device* device = nullptr;
  bool out_of_order = false;
  bool profiling = false;
  cl_int unseen_failure = CL_SUCCESS; ///< of a command whose failure nobody could see; the next blocking reply reports it
  Command* first = nullptr;           ///< commands that are not complete, in order of enqueueing
  Command* last = nullptr;
  Command* sync = nullptr;    ///< the last marker or barrier that waits for everything before it
  Command* barrier = nullptr; ///< the last barrier
};

/// A dependency: `later` waits until the command that holds the edge is complete.
struct Edge {
  Command* later = nullptr;
  Edge* next = nullptr;
  bool carries_failure = false; ///< a wait list's edge; order alone does not carry failures
};

struct MarkerWork {};
struct UserEventWork {};
struct FinishWork {
  protocol::RequestId request;
};
/// A buffer's initial contents, which come as bulk. Only behind them the client hears where the buffer is `placed`.
struct InitialDataWork {
  protocol::BufferId buffer;
  std::optional<std::uint64_t> placed;
};
struct ReadWork {
  protocol::TransferId transfer;
  Read read;                    ///< `into` is set when it starts
  std::uint64_t size_bytes = 0; ///< of the whole box
};
struct WriteWork {
  Write write; ///< `from` is empty when the bytes were received straight into the buffer
};
using Work = std::variant<MarkerWork, UserEventWork, FinishWork, InitialDataWork, Launch, Copy, Fill, ReadWork, WriteWork>;

/// Argument values and other small data of one command; aligned for every OpenCL type.
struct alignas(128) ValueBlock {
  std::byte bytes[128];
};

struct Command {
  // The graph's.
  Edge* edges = nullptr; ///< in the order in which they were made
  Edge* last_edge = nullptr;
  std::uint32_t unmet = 0; ///< dependencies and holds that are not met
  bool entered = false;
  bool running = false;
  bool awaits_bytes = false;   ///< holds itself until its transfer has come
  bool announced = false;      ///< its end has been told already
  cl_int failure = CL_SUCCESS; ///< why it will not run
  Command* ready_next = nullptr;
  Command* queue_previous = nullptr;
  Command* queue_next = nullptr;
  std::shared_ptr<Queue> queue; ///< null: user events, initial data

  // Who hears of it.
  protocol::EventId event;
  bool notify = false;
  protocol::CompletionTimes times;

  // What it does.
  Work work;
  std::vector<LaunchArgument> arguments;
  std::vector<ValueBlock> values;  ///< argument values, fill pattern, inline data, inline reads
  std::shared_ptr<Memory> staging; ///< a write's bytes that had to wait
  Budget::Share share;             ///< of the session's staging budget
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::shared_ptr<const DeviceProgram> program;

  [[nodiscard]] std::byte* value_bytes() noexcept { return values.empty() ? nullptr : values.data()->bytes; }
  /// Makes room for `size` bytes in `values`.
  void reserve_values(std::size_t size) { values.resize((size + sizeof(ValueBlock) - 1) / sizeof(ValueBlock)); }
  /// Everything but its starting bytes is here: nothing else stands in its way.
  [[nodiscard]] bool waits_for_bytes_only() const noexcept { return awaits_bytes && unmet == 1 && failure == CL_SUCCESS; }
};

} // namespace farcl::daemon
