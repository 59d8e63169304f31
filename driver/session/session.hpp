// ServerSession: the connection to one server, with everything that is in flight on it.
//
// Threads and locks (lock order: session state, then nothing; never call the program under it):
//  - Program threads enter with API calls. They append messages under the state lock and send them according to the flush rule
//    (after_append). A thread that has to wait takes the reader role if it is free, reads the socket itself without the state lock and
//    hands what it reads over under it; other waiting threads sleep on `progress` until their own condition holds or the role is free.
//  - The io thread (one per session, detached) reads when nobody waits, sends what was left behind, beats the heart and repairs a cut.
//  - The reader role is the flag `State::reader_present`, taken and given up under the state lock. Who has it owns `receiver_` and may
//    replace the transport. Only the reader declares the server dead.
//  - The program's callbacks run on the callback thread, which never waits for a server.
// Sessions live for ever: objects and detached threads refer to them. A dead session keeps answering with errors.
#pragma once

#include "driver/objects/event.hpp"
#include "driver/objects/kernel.hpp"
#include "driver/objects/queue.hpp"
#include "driver/session/id_table.hpp"
#include "driver/session/transfers.hpp"
#include "farcl/base/guarded.hpp"
#include "farcl/base/log.hpp"
#include "farcl/net/connect.hpp"
#include "farcl/net/link.hpp"
#include "farcl/protocol/dispatch.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace farcl::driver {

using Clock = std::chrono::steady_clock;

inline constexpr std::size_t kFlushBytes = 16u << 10;               ///< collected bytes that are sent at once
inline constexpr std::chrono::microseconds kFlushAfter{20};         ///< age of collected bytes, looked at by each next call
inline constexpr std::chrono::microseconds kPollInterval{5};        ///< between two looks of status queries at the socket
inline constexpr std::chrono::microseconds kTick{800};              ///< of the io thread while commands are in flight
inline constexpr std::chrono::milliseconds kQuietAfter{20};         ///< without traffic the io thread stops ticking
inline constexpr std::chrono::milliseconds kWaitSlice{100};         ///< longest single sleep of a waiting thread
inline constexpr std::chrono::seconds kPingAfter{1};                ///< of silence while something is pending
inline constexpr std::uint64_t kCheckpointCommands = 4096;          ///< of one queue, after which the client asks how far it is
inline constexpr std::size_t kReleaseBatch = 256;                   ///< events released by one message
inline constexpr std::size_t kInlineCopyBytes = 256u << 10;         ///< a write up to this size is copied and never waited for

struct SessionOptions {
  std::string name;                 ///< the server, as the user wrote it
  net::Connector connector;
  bool can_resume = true;           ///< false for ssh: a new connection is a new server process
  bool refused_is_death = true;     ///< nobody listens any more: the session is gone
  std::chrono::seconds resume{5};
  std::chrono::microseconds spin{100};
  LogLevel log_level = LogLevel::kOff;
};

/// What is waited for with a request id: lives on the waiting thread's stack, or on the heap for builds with a callback.
class PendingReply {
public:
  virtual ~PendingReply() = default;
  bool done = false;           ///< under the state lock
  cl_int status = CL_SUCCESS;  ///< CL_OUT_OF_RESOURCES when the server died
  // Called by the reader under the state lock, before `done` is set. The default ignores what is not expected.
  virtual void on_build_done(protocol::BuildDone&& reply) { (void)reply; }
  virtual void on_binary(ConstBytes bytes) { (void)bytes; }
  /// After `done`, outside the lock; the object may delete itself.
  virtual void after_done() {}
};

struct WaitList {
  cl_uint count = 0;
  const cl_event* events = nullptr; ///< validated
};

class ServerSession final : private net::FrameSink {
public:
  /// Connects, shakes hands and starts the io thread. Ends at `deadline`.
  [[nodiscard]] static Result<std::unique_ptr<ServerSession>> start(SessionOptions options, Clock::time_point deadline);
  ~ServerSession() override; // only of sessions that did not come up

  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
  [[nodiscard]] const protocol::ServerInfo& server_info() const noexcept { return server_info_; }
  [[nodiscard]] const protocol::SessionLimits& limits() const noexcept { return server_info_.limits; }
  [[nodiscard]] bool dead() const noexcept { return dead_.load(std::memory_order_acquire); }

  /// Ids are never used twice within a session.
  template <class Id>
  [[nodiscard]] Id new_id() noexcept {
    return Id{next_id_.fetch_add(1, std::memory_order_relaxed)};
  }

  // --- Messages that nothing waits for: 0 round trips -------------------------------------------------------------------------
  /// CL_SUCCESS, or CL_OUT_OF_RESOURCES when the server is dead.
  template <class Message>
  cl_int post(const Message& message);
  /// The same, and sends it now.
  template <class Message>
  cl_int post_now(const Message& message);

  /// The last reference is gone: tells the server. `owner` entries of the object are forgotten.
  void release(protocol::ObjectKind kind, std::uint64_t id);
  void release_event(protocol::EventId id) noexcept;
  /// Whose pfn_notify hears about a failure of this object. Until release().
  void set_owner(protocol::ObjectKind kind, std::uint64_t id, Context* owner);
  void add_queue(CommandQueue& queue);
  void remove_queue(CommandQueue& queue); ///< also settles what it has in flight
  void set_user_event(Event& event, cl_int status);

  // --- Commands ---------------------------------------------------------------------------------------------------------------
  /// Fills in `message.command` and appends the message; with `event` makes the command's event (owned by the caller).
  /// CL_OUT_OF_RESOURCES when the server is dead or takes no more.
  template <class Message>
  cl_int submit(CommandQueue& queue, Message& message, WaitList wait_list, cl_command_type type, Event** event);
  cl_int submit_kernel(CommandQueue& queue, protocol::EnqueueKernel& message, const Kernel& kernel, WaitList wait_list,
                       cl_command_type type, Event** event);
  /// Bytes that belong to a message already posted or submitted. Must stay as they are until the command is complete, or
  /// `keep_alive` holds them.
  void send_bulk(protocol::TransferId transfer, ConstBytes data, std::shared_ptr<const void> keep_alive);
  /// As send_bulk, and waits until the server has acknowledged all of it: the memory is the program's again. 1 round trip.
  cl_int send_bulk_and_wait(protocol::TransferId transfer, ConstBytes data);
  /// Registers where a read's bytes go, before the EnqueueRead is submitted. The read must stay where it is until it is done.
  void expect_read(protocol::TransferId transfer, IncomingRead& read);

  // --- Waiting: at most 1 round trip each ----------------------------------------------------------------------------------------
  void flush();
  /// The queue's hidden failure, or CL_SUCCESS.
  [[nodiscard]] cl_int finish(CommandQueue& queue);
  /// Waits for all of them; CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if one failed.
  [[nodiscard]] cl_int wait_for_events(WaitList events);
  [[nodiscard]] cl_int wait_for_read(IncomingRead& read, Event* event);
  /// Sends the request and waits for its reply; the reply's status is in `reply.status`.
  template <class Message>
  void call(Message& message, PendingReply& reply);
  /// Sends the request; `reply` hears of its end on whatever thread reads.
  template <class Message>
  void call_async(Message& message, PendingReply& reply);
  /// One build: the reply, or an error when the server is gone.
  [[nodiscard]] Result<protocol::BuildDone> build(protocol::BuildProgram& message);
  /// `done` runs on the callback thread.
  void build_async(protocol::BuildProgram& message, std::function<void(Result<protocol::BuildDone>)> done);
  /// The bytes of CL_PROGRAM_BINARIES; an error when there are none or the server is gone.
  [[nodiscard]] Result<ByteVector> program_binary(protocol::ProgramId program);
  /// A status query that found an event incomplete: looks at the socket once, without waiting, at most every kPollInterval.
  void poll_event();

  /// The client's clock mapped to the server's device clock.
  [[nodiscard]] std::uint64_t to_device_clock(std::uint64_t steady_ns) const noexcept { return steady_ns + clock_offset_ns_; }
  /// In a forked child: closes the connection without a word. Takes no lock.
  void abandon_in_child() noexcept;
  /// Why the session is dead, for people.
  [[nodiscard]] std::string death_sentence();

private:
  struct State {
    explicit State(const std::atomic<std::uint64_t>& received) : sender(received) {}

    net::FrameSender sender;
    std::shared_ptr<net::Transport> transport; ///< null while cut and after death
    bool send_failed = false;                  ///< the reader shall repair it
    Clock::time_point oldest_unsent{};
    IdTable<protocol::EventId, Ref<Event>> events;
    IdTable<protocol::RequestId, PendingReply*> replies;
    IdTable<protocol::TransferId, IncomingRead*> reads;
    OutgoingBulk outgoing;
    std::vector<protocol::EventId> released_events;
    IdTable<StrongId<struct OwnerTag>, Context*> owners[4]; ///< by ObjectKind
    std::vector<CommandQueue*> queues;
    std::uint64_t commands_in_flight = 0; ///< upper bound: enqueued and not covered by an answered Finish
    std::uint64_t unresolved_user_events = 0;
    bool reader_present = false;
    unsigned waiters = 0;          ///< on `progress`
    bool ping_outstanding = false;
    std::string death_sentence;
  };
  using Access = Guarded<State>::Access;

  /// How the io thread sleeps; others look at it to know whether it must be woken.
  enum class IoMode : int { kTicking, kParked, kDeep, kDeepForever };

  /// A waiting thread's progress through spinning and sleeping.
  struct Wait {
    bool is_reader = false;
    bool counted = false;
    Clock::time_point spin_end{};
  };

  explicit ServerSession(SessionOptions options);
  Status shake_hands(Clock::time_point deadline);

  // Appending (session.cpp).
  template <class Message>
  std::uint64_t append(Access& state, const Message& message);
  void after_append(State& state, std::uint64_t acknowledged_before, bool was_clean);
  cl_int make_room(Access& state);
  void add_checkpoint(State& state, CommandQueue& queue);
  cl_int begin_command(CommandQueue& queue, protocol::CommandHeader& header, WaitList wait_list, cl_command_type type, Event** event);
  void count_command(State& state, CommandQueue& queue);
  bool flush_locked(State& state);
  void append_released_events(State& state);
  [[nodiscard]] bool anything_pending(State& state) const;

  // Waiting and reading (reader.cpp).
  template <class Done>
  void wait_until(Access& state, Done done);
  void wait_step(Access& state, Wait& wait);
  void leave(Access& state, Wait& wait);
  /// Reads what is there; true when something was. A failure has been dealt with. Called by the reader, without the state lock.
  bool read_some();
  void sleep_as_reader(std::chrono::nanoseconds at_most);
  void heartbeat(State& state);
  void after_reading(State& state);

  // FrameSink: all on the reader.
  Status on_message(protocol::Opcode opcode, ConstBytes payload) override;
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader& chunk, std::size_t size) override;
  Status on_bulk(const protocol::BulkHeader& chunk, std::size_t size) override;
  Status on_acknowledged(std::uint64_t sequence) override;
  void on_ping(std::uint64_t token) override;
  void on_pong(std::uint64_t token) override;

  // What the server says (handlers.cpp).
  friend class protocol::Dispatcher<protocol::ServerMessages, ServerSession>;
  Status handle(protocol::ServerInfo&& message);
  Status handle(protocol::SessionFailed&& message);
  Status handle(protocol::ObjectFailed&& message);
  Status handle(protocol::PrintfOutput&& message);
  Status handle(protocol::BuildDone&& message);
  Status handle(protocol::ProgramBinary&& message);
  Status handle(protocol::Completions&& message);
  Status handle(protocol::ReadResult&& message);
  Status handle(protocol::Finished&& message);
  PendingReply* take_reply(State& state, protocol::RequestId request);

  // Cut, repair, death (recovery.cpp): all on the reader.
  void repair(const Error& reason);
  [[nodiscard]] bool try_to_resume(std::uint64_t received);
  void die(const std::string& sentence);

  // The io thread (io_thread.cpp).
  void start_io_thread();
  void io_main();
  void io_turn();
  void wake_io(IoMode at_least_as_deep_as);

  const SessionOptions options_;
  Logger log_;
  protocol::ServerInfo server_info_;
  bool has_server_info_ = false;
  protocol::Hello hello_; ///< of the next reconnect
  std::uint64_t clock_offset_ns_ = 0;

  std::atomic<std::uint64_t> next_id_{1};
  std::atomic<bool> dead_{false};
  std::atomic<std::int64_t> last_heard_ns_{0};
  std::atomic<std::int64_t> last_poll_ns_{0};
  std::atomic<IoMode> io_mode_{IoMode::kTicking};
  std::atomic<net::Transport*> transport_for_child_{nullptr};
  std::optional<Error> session_failure_; ///< the reader's: a SessionFailed has arrived
  std::vector<PendingReply*> replies_done_; ///< the reader's: hear after_done() once the lock is free
  std::vector<Ref<Event>> events_done_;     ///< the reader's: let go of once the lock is free

  net::FrameReceiver receiver_; ///< the reader's
  net::Waker reader_waker_;     ///< ends the sleep of a waiting thread that reads
  net::Waker io_waker_;
  std::condition_variable progress_;
  Guarded<State> state_;
};

} // namespace farcl::driver

#include "driver/session/session_inline.hpp"
