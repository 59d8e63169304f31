// An event: of a command, or a user event.
//
// Threads: `status` is set once to its final value by whoever reads the server's messages (or by clSetUserEventStatus); anybody may look.
#pragma once

#include "driver/objects/context.hpp"
#include "driver/objects/handle.hpp"
#include "driver/objects/queue.hpp"
#include "farcl/base/guarded.hpp"
#include "farcl/protocol/message_list.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace farcl::driver {

/// On the device clock of the server, in nanoseconds; clamped so that queued <= submitted <= started <= ended.
struct ProfilingTimes {
  std::uint64_t queued_ns = 0;
  std::uint64_t submitted_ns = 0;
  std::uint64_t started_ns = 0;
  std::uint64_t ended_ns = 0;
};

class Event : public Object<Event, _cl_event, 0x4641524c'45564e54> {
public:
  using Function = void(CL_CALLBACK*)(cl_event event, cl_int status, void* user_data);

  [[nodiscard]] Context& context() const noexcept { return *context_; }
  [[nodiscard]] ServerSession& session() const noexcept { return context_->session(); }
  /// Null for user events.
  [[nodiscard]] CommandQueue* queue() const noexcept { return queue_.get(); }
  [[nodiscard]] bool is_user_event() const noexcept { return !queue_; }
  [[nodiscard]] protocol::EventId id() const noexcept { return id_; }
  [[nodiscard]] cl_command_type command_type() const noexcept { return command_type_; }

  /// CL_QUEUED, CL_SUBMITTED, CL_RUNNING, CL_COMPLETE or an error. Never reads the socket; ServerSession::poll_event does.
  [[nodiscard]] cl_int status() const noexcept { return status_.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_final() const noexcept { return status() <= CL_COMPLETE; }
  /// Of a complete command of a queue with profiling; call only after is_final().
  [[nodiscard]] const ProfilingTimes& times() const noexcept { return times_; }
  /// True when the server sent times (the command ran and its queue has profiling).
  [[nodiscard]] bool has_times() const noexcept { return has_times_; }

  /// Calls `function` on the callback thread once the status is `type` or later (at once if it is already).
  void add_callback(cl_int type, Function function, void* user_data);

  /// The program is being told the status: a failure that it knows is not reported again.
  void mark_seen() noexcept {
    if (is_final()) {
      seen_.store(true, std::memory_order_relaxed);
    }
  }
  /// A failure that no call can tell the program any more, because it let go of the event unseen, becomes its queue's hidden failure.
  /// Called where a failure arrives and where the program lets go: whichever comes second finds both.
  void report_if_unseen();

  /// The final status. False when there was one already. Callers: the session for commands, clSetUserEventStatus for user events.
  bool finish(cl_int status, const protocol::CompletionTimes* times = nullptr);

private:
  friend class Object;
  friend class ServerSession; // sets queued_ns_ and times
  Event(Context& context, CommandQueue* queue, protocol::EventId id, cl_command_type type);
  ~Event();

  struct Callback {
    cl_int type;
    Function function;
    void* user_data;
  };

  Ref<Context> context_;
  Ref<CommandQueue> queue_;
  const protocol::EventId id_;
  const cl_command_type command_type_;
  std::atomic<cl_int> status_;
  std::atomic<bool> seen_{false}; ///< by the program: the final status
  bool has_times_ = false;
  bool announced_ = false;      ///< the server knows the id
  std::uint64_t command_ = 0;   ///< its number in its queue
  protocol::TransferId read_;   ///< of a read: must have ended before the event completes
  std::uint64_t queued_ns_ = 0; ///< on the device clock; 0: the queue has no profiling
  ProfilingTimes times_;
  Guarded<std::vector<Callback>> callbacks_;
};

} // namespace farcl::driver
