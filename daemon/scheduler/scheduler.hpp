// Scheduler: which command may start when. A graph of commands with counted dependencies, and OpenCL's rules of queues, wait
// lists, markers, barriers and failures on top of it.
//
// Threads: the session thread only. It never waits and never recurses: what becomes ready goes into a list that start_ready
// works off. Commands, edges and their vectors are recycled, so a steady stream of commands allocates nothing.
//
// Failures: a command with a failed event in its wait list ends with CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST without
// having run. Order alone (an in-order queue, a barrier, a marker without wait list) does not hand failures on.
#pragma once

#include "daemon/scheduler/command.hpp"
#include "daemon/session/id_table.hpp"
#include "farcl/base/result.hpp"

#include <deque>
#include <span>

namespace farcl::daemon {

/// What the scheduler drives: implemented by the session.
class Runner {
public:
  virtual ~Runner() = default;
  /// The command's turn has come. Ends with a call of Scheduler::complete, now or later.
  virtual void start(Command& command) = 0;
  /// The command is complete (`status` CL_COMPLETE or negative).
  virtual void completed(Command& command, cl_int status) = 0;
};

/// How a command stands to the others of its queue.
enum class Ordering {
  kPlain,       ///< behind the queue's last one (in order) or its last barrier (out of order)
  kWaitsForAll, ///< a marker or barrier without wait list, a Finish: behind everything in the queue
};

struct SchedulerLimits {
  std::uint64_t commands = 65536; ///< entered and not complete
  std::uint64_t events = 1u << 20;
  std::uint64_t edges = 4u << 20; ///< dependencies that are not met, all together (64 MiB)
};

class Scheduler {
public:
  Scheduler(Runner& runner, SchedulerLimits limits) : runner_(runner), limits_(limits) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// A fresh or recycled command; fill it, then enter it.
  [[nodiscard]] Command& new_command();
  /// Makes `later` (not entered yet) wait for `earlier`, in addition to what enter adds.
  void depend(Command& earlier, Command& later, bool carries_failure);
  /// Keeps a command that has not been entered from starting until release(command).
  void hold(Command& command) { ++command.unmet; }
  void release(Command& command);

  /// Puts the command into its queue's order and behind its wait list. A failure that is set already stays. Fails, with
  /// nothing changed but the command recycled, when the event's id is in use: a protocol error.
  [[nodiscard]] Status enter(Command& command, std::span<const protocol::EventId> wait_list = {}, Ordering ordering = Ordering::kPlain,
                             bool barrier = false);

  /// Tells the runner that the command is complete, while the commands behind it still wait for complete().
  void announce(Command& command, cl_int status);
  void complete(Command& command, cl_int status);
  /// Starts what is ready, and what becomes ready by that.
  void start_ready();

  /// Of a user event: sets its status once. False if there is no such pending user event.
  [[nodiscard]] bool set_user_event(protocol::EventId event, cl_int status);
  /// The client will not name the event again. False: unknown.
  [[nodiscard]] bool release_event(protocol::EventId event);

  [[nodiscard]] std::size_t commands_in_flight() const noexcept { return in_flight_; }
  [[nodiscard]] std::size_t events() const noexcept { return events_.size(); }
  [[nodiscard]] const SchedulerLimits& limits() const noexcept { return limits_; }

private:
  struct Event {
    Command* command = nullptr; ///< null: complete
    cl_int status = CL_COMPLETE;
  };
  void wait_for(Command& command, std::span<const protocol::EventId> wait_list);
  void order_in_queue(Command& command, Ordering ordering, bool barrier);
  void append_to_queue(Command& command);
  void remove_from_queue(Command& command);
  void push_ready(Command& command);
  void recycle(Command& command);
  Edge* new_edge();

  Runner& runner_;
  SchedulerLimits limits_;
  IdTable<protocol::EventId, Event> events_;
  std::deque<Command> commands_;
  std::vector<Command*> free_commands_;
  std::deque<Edge> edge_blocks_;
  Edge* free_edges_ = nullptr;
  std::size_t live_edges_ = 0;
  std::size_t in_flight_ = 0;
  Command* ready_first_ = nullptr;
  Command* ready_last_ = nullptr;
};

} // namespace farcl::daemon
