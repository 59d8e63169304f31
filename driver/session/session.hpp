// ServerSession: the connection to one server, with everything that is in flight on it.
//
// Threads and locks (lock order: session state, then nothing; never call the program under it):
//  - Program threads enter with API calls. They append messages under the state lock and send them according to the flush rule
//    (after_append). A thread that has to wait takes the reader role if it is free, reads the socket itself without the state lock and
//    hands what it reads over under it; other waiting threads sleep on `progress` until their own condition holds or the role is free.
//  - The io thread (one per session, detached) reads when nobody waits, sends what was left behind, beats the heart and repairs a cut.
//  - The reader role is the flag `State::reader_present`, taken and given up under the state lock. Who has it owns `receiver_` and may
//    replace the transport. Only the reader declares the server dead.
//  - Each further connection for bulk has a thread (net::BulkStream), which enters by BulkStream::Owner and takes the state lock there.
//  - The program's callbacks run on the callback thread, which waits for a server at most until it takes what is to be sent.
// Sessions live for ever: objects and detached threads refer to them. A dead session keeps answering with errors.
#pragma once

#include "driver/objects/event.hpp"
#include "driver/objects/kernel.hpp"
#include "driver/objects/queue.hpp"
#include "driver/session/flush_forecast.hpp"
#include "driver/session/id_table.hpp"
#include "driver/session/placement.hpp"
#include "driver/session/transfers.hpp"
#include "farcl/base/guarded.hpp"
#include "farcl/base/log.hpp"
#include "farcl/net/bulk_stream.hpp"
#include "farcl/net/connect.hpp"
#include "farcl/net/link.hpp"
#include "farcl/protocol/dispatch.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace farcl::driver {

using Clock = std::chrono::steady_clock;

inline constexpr std::size_t kFlushBytes = 16u << 10;                             ///< collected bytes that are sent at once
inline constexpr std::chrono::microseconds kFlushAfter{20};                       ///< age of collected bytes, looked at by each next call
inline constexpr std::chrono::microseconds kPollInterval{5};                      ///< between two looks of status queries at the socket
inline constexpr std::chrono::microseconds kTick{800};                            ///< of the io thread while commands are in flight
inline constexpr std::chrono::milliseconds kQuietAfter{20};                       ///< without traffic the io thread stops ticking
inline constexpr std::chrono::milliseconds kWaitSlice{100};                       ///< longest single sleep of a waiting thread
inline constexpr std::uint64_t kAcknowledgeFrames = net::kAcknowledgeAfterFrames; ///< received, then the server hears of it
inline constexpr std::chrono::seconds kPingAfter{1};                              ///< of silence while something is pending
inline constexpr std::uint64_t kCheckpointCommands = 4096;  ///< of one queue, after which the client asks how far it is
inline constexpr std::size_t kReleaseBatch = 256;           ///< events released by one message
inline constexpr std::size_t kInlineCopyBytes = 256u << 10; ///< a write up to this size is copied and never waited for

struct SessionOptions {
  std::string name; ///< the server, as the user wrote it
  net::Connector connector;
  bool can_resume = true;       ///< false for ssh: a new connection is a new server process
  bool refused_is_death = true; ///< nobody listens any more: the session is gone
  std::chrono::seconds resume{5};
  unsigned bulk_streams = 0; ///< further connections that may be made for bulk
  std::chrono::microseconds spin{100};
  LogLevel log_level = LogLevel::kOff;
};

/// What is waited for with a request id: lives on the waiting thread's stack, or on the heap for builds with a callback.
class PendingReply {
public:
  virtual ~PendingReply() = default;
  bool done = false;          ///< under the state lock
  cl_int status = CL_SUCCESS; ///< of the reply; CL_OUT_OF_RESOURCES when the server died
  bool is_async = false;      ///< nobody waits: after_done() is called
  // Called by the reader under the state lock, before `done` is set. The default ignores what was not asked for.
  virtual void on_build_done(protocol::BuildDone&& reply) { (void)reply; }
  virtual void on_source_wanted() {}
  virtual void on_binary(ConstBytes bytes) { (void)bytes; }
  /// Under the state lock, with `status` set, before anybody can see `done`.
  virtual void on_done() {}
  /// Outside the lock, after `done`; the object may delete itself.
  virtual void after_done() {}
};

/// What becomes of one build request; nothing: it named its source by hash, and the server does not know it.
using BuildAnswer = Result<std::optional<protocol::BuildDone>>;

struct WaitList {
  cl_uint count = 0;
  const cl_event* events = nullptr; ///< validated
};

class ServerSession final : private net::FrameSink, private net::BulkStream::Owner {
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

  /// The last reference is gone: tells the server. `owner` entries of the object are forgotten.
  void release(protocol::ObjectKind kind, std::uint64_t id);
  void release_event(protocol::EventId event) noexcept;
  /// Whose pfn_notify hears about a failure of this object. Until release().
  void set_owner(protocol::ObjectKind kind, std::uint64_t id, Context* owner);
  void forget_owner(protocol::ObjectKind kind, std::uint64_t id); ///< of an object that the server never heard of
  void add_queue(CommandQueue& queue);
  void remove_queue(CommandQueue& queue); ///< also settles what it has in flight, and releases it on the server
  /// Tells the server of a new user event.
  cl_int add_user_event(Event& event);
  /// The event has got its status: tells the server and whoever waits here. Sends at once.
  void user_event_set(Event& event, cl_int status);

  // --- Commands ---------------------------------------------------------------------------------------------------------------
  /// Fills in `message.command` and appends the message; with `event` makes the command's event (owned by the caller).
  /// CL_OUT_OF_RESOURCES when the server is dead or takes no more.
  template <class Message>
  cl_int submit(CommandQueue& queue, Message& message, WaitList wait_list, cl_command_type type, Event** event);
  cl_int submit_kernel(CommandQueue& queue, protocol::EnqueueKernel& message, const Kernel& kernel, WaitList wait_list,
                       cl_command_type type, Event** event);
  /// Registers where the bytes go and submits; the read must stay where it is until it is done.
  cl_int submit_read(CommandQueue& queue, protocol::EnqueueRead& message, IncomingRead& read, WaitList wait_list, cl_command_type type,
                     Event** event);
  /// Bytes that belong to a message already posted or submitted. They must stay as they are until the command is complete, or
  /// `keep_alive` holds them. They are not looked at before the reads of `after` have ended.
  void send_bulk(protocol::TransferId transfer, ConstBytes data, std::shared_ptr<const void> keep_alive,
                 std::vector<protocol::TransferId> after = {});
  /// As send_bulk, and waits until the server has acknowledged all of it: the memory is the program's again. 1 round trip.
  cl_int send_bulk_and_wait(protocol::TransferId transfer, ConstBytes data);
  /// Reads that have not ended and may still write to this memory.
  [[nodiscard]] std::vector<protocol::TransferId> open_reads_into(const HostBox& box);
  void wait_for_reads(const std::vector<protocol::TransferId>& reads);

  // --- Buffers in shared memory (direct.cpp) ------------------------------------------------------------------------------------
  enum class Direction { kToBuffer, kFromBuffer };
  /// One thread's right to copy into or out of a buffer; nobody else uses it meanwhile.
  class DirectAccess {
  public:
    DirectAccess() = default;
    DirectAccess(DirectAccess&& other) noexcept : session_(other.session_), placement_(std::exchange(other.placement_, nullptr)) {}
    DirectAccess& operator=(DirectAccess&&) = delete;
    ~DirectAccess() { end(); }
    [[nodiscard]] explicit operator bool() const noexcept { return placement_ != nullptr; }
    /// The bytes from `offset` of the whole buffer on, of which `size_bytes` will be touched.
    [[nodiscard]] std::byte* memory(std::uint64_t offset, std::uint64_t size_bytes) const;
    void end() noexcept;

  private:
    friend class ServerSession;
    DirectAccess(ServerSession* session, Placement* placement) : session_(session), placement_(placement) {}
    ServerSession* session_ = nullptr;
    Placement* placement_ = nullptr;
  };
  /// Null when a buffer of this size cannot lie in shared memory.
  [[nodiscard]] std::shared_ptr<Placement> new_placement(protocol::BufferId buffer, std::uint64_t size_bytes);
  void share_placement(protocol::BufferId sub_buffer, const std::shared_ptr<Placement>& placement);
  /// Nothing when the buffer is in use or lies elsewhere, an event of the list is open, or an earlier transfer still needs the box.
  [[nodiscard]] DirectAccess try_direct(Placement& placement, const HostBox& box, Direction direction, WaitList wait_list);
  /// Everything enqueued is complete, and its failures are told.
  [[nodiscard]] bool queue_is_answered(CommandQueue& queue);
  /// Once the queue has finished, nothing will use the buffer.
  [[nodiscard]] bool is_idle_behind(Placement& placement, CommandQueue& queue, WaitList wait_list);
  [[nodiscard]] std::byte* placed_memory(const Placement& placement);
  /// Asks how far the queue is, without waiting: the next transfer may then find its buffer idle.
  void leave_checkpoint(CommandQueue& queue);

  // --- Waiting: at most 1 round trip each ----------------------------------------------------------------------------------------
  void flush();
  /// The queue's hidden failure, or CL_SUCCESS.
  [[nodiscard]] cl_int finish(CommandQueue& queue);
  /// Waits for all of them; CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if one failed.
  [[nodiscard]] cl_int wait_for_events(WaitList events);
  /// The read's status, or CL_OUT_OF_RESOURCES for a hidden failure of its queue.
  [[nodiscard]] cl_int wait_for_read(CommandQueue& queue, IncomingRead& read, Event* event);
  /// Sends the request (its id is filled in) and waits for its reply. The reply's status.
  template <class Message>
  cl_int call(Message& message, PendingReply& reply);
  /// Sends the request; `reply` (is_async) hears of its end on whatever thread reads. A failure: it never will.
  template <class Message>
  cl_int call_async(Message& message, PendingReply& reply);
  /// One build: the reply, or an error when the server is gone.
  [[nodiscard]] BuildAnswer build(protocol::BuildProgram& message);
  /// `done` runs on the callback thread.
  void build_async(protocol::BuildProgram& message, std::function<void(BuildAnswer)> done);
  /// The bytes of CL_PROGRAM_BINARIES; an error when there are none or the server is gone.
  [[nodiscard]] Result<ByteVector> program_binary(protocol::ProgramId program);
  /// A status query that found an event incomplete: looks at the socket once, without waiting, at most every kPollInterval.
  void poll_event();

  /// The client's clock mapped to the server's device clock.
  [[nodiscard]] std::uint64_t to_device_clock(std::uint64_t steady_ns) const noexcept { return steady_ns + clock_offset_ns_; }
  /// In a forked child: closes the connection without a word. Takes no lock.
  void abandon_in_child() noexcept;
  /// The program is about to exit: says so to the server if that can be done at once. The session goes on as before.
  void announce_exit() noexcept;
  /// Why the session is dead, for people.
  [[nodiscard]] std::string death_sentence();

private:
  /// Whether the link is so long that one connection does not fill it: what has come since the last look.
  struct StreamDemand {
    std::uint64_t received_bytes = 0;
    Clock::time_point begin{};
    Clock::time_point next_look{};
  };
  struct State {
    explicit State(const std::atomic<std::uint64_t>& received) : sender(received) {}

    net::FrameSender sender;
    Clock::time_point unsent_since{}; ///< zero: nothing is collected
    FlushForecast forecast;
    IdTable<protocol::EventId, Ref<Event>> events;
    IdTable<protocol::RequestId, PendingReply*> replies;
    IdTable<protocol::TransferId, IncomingRead*> reads;
    OutgoingBulk outgoing;
    net::BulkWindow window; ///< of the bulk in `sender`
    std::vector<protocol::EventId> released_events;
    IdTable<StrongId<struct OwnerTag>, Context*> owners[4]; ///< by ObjectKind
    std::vector<CommandQueue*> queues;
    IdTable<protocol::BufferId, std::shared_ptr<Placement>> placements; ///< sub-buffers too
    std::uint64_t last_bulk_sequence = 0;                               ///< appended; it refers to the program's memory until acknowledged
    unsigned waiting_for_copies = 0;                                    ///< threads
    std::uint64_t commands_in_flight = 0;                               ///< upper bound: enqueued and not covered by an answered Finish
    std::uint64_t unresolved_user_events = 0;
    bool reader_present = false;
    unsigned waiters = 0;                                                                                   ///< on `progress`
    unsigned waits = 0;                                                                                     ///< that read themselves
    std::chrono::nanoseconds wait_cost[2] = {std::chrono::microseconds(10), std::chrono::microseconds(20)}; ///< of a full and a brief spin
    Clock::time_point ping_sent{};                                                                          ///< zero: none is outstanding
    StreamDemand demand;
    std::string stream_failure;
    std::string death_sentence;
  };
  using Access = Guarded<State>::Access;

  /// How the io thread sleeps; others look at it to know whether it must be woken.
  enum class IoMode : int { kTicking, kParked, kDeep, kDeepForever };

  /// A waiting thread's progress through spinning and sleeping.
  struct Wait {
    bool is_reader = false;
    bool brief = false;
    Clock::time_point begin{};
    Clock::time_point spin_end{};
  };
  struct Checkpoint;
  struct BuildReply;
  struct AsyncBuild;
  struct FetchBinary;

  explicit ServerSession(SessionOptions options);
  Status shake_hands(Clock::time_point deadline);
  void install(net::TransportPtr transport);

  // Appending (session.cpp).
  template <class Message>
  std::uint64_t append(Access& state, const Message& message);
  void after_append(State& state, bool was_clean);
  void flush_collected(State& state);
  /// Sends what is there; false when the transport takes no more now. `all`: also releases of events that wait for company.
  bool flush_locked(State& state, bool all);
  bool pump_bulk(State& state);
  void append_released_events(State& state);
  [[nodiscard]] bool anything_pending(State& state) const;
  /// Waits while too much is retained.
  cl_int make_room(Access& state) { return state->sender.retained_bytes() <= limits().retained_bytes ? CL_SUCCESS : wait_for_room(state); }
  cl_int wait_for_room(Access& state);

  // Commands (commands.cpp).
  template <class Uses, class Append>
  cl_int submit_with(CommandQueue& queue, protocol::CommandHeader& header, WaitList wait_list, cl_command_type type, Event** event,
                     const Uses& uses, Append&& append_message);
  Event* begin_command(CommandQueue& queue, protocol::CommandHeader& header, WaitList wait_list, cl_command_type type, bool wants_event);
  void announce(State& state, Event& event);
  void withdraw(State& state, Event& event);
  cl_int make_room_for_command(Access& state) {
    return state->commands_in_flight < limits().commands_in_flight ? make_room(state) : wait_for_commands(state);
  }
  cl_int wait_for_commands(Access& state);
  void count_command(State& state, CommandQueue& queue) {
    ++state.commands_in_flight;
    ++queue.progress_->enqueued;
    if (++queue.commands_since_checkpoint_ >= checkpoint_commands_) {
      add_checkpoint(state, queue);
    }
  }
  void add_checkpoint(State& state, CommandQueue& queue);
  /// The buffers that `uses` calls its argument with: waits until no thread copies, marks them used by the queue's last command.
  template <class Uses>
  void wait_for_copies(Access& state, const Uses& uses);
  template <class Uses>
  static void mark_used(State& state, CommandQueue& queue, const Uses& uses);
  // direct.cpp
  void look_for_progress(Access& state);
  template <class Message>
  bool begin_call(Access& state, Message& message, PendingReply& reply);

  // Waiting and reading (reader.cpp).
  template <class Done>
  void wait_until(Access& state, Done done);
  void wait_step(Access& state, Wait& wait);
  void begin_spin(State& state, Wait& wait);
  void learn_from_spin(State& state, const Wait& wait);
  void leave(Access& state, Wait& wait);
  /// Reads what is there; true when something was, or when a failure has been dealt with. The reader, without the state lock.
  bool read_some();
  bool look();
  void sleep_as_reader();
  void after_reading(State& state, std::size_t bytes);
  void finish_deferred();
  /// True when the connection has been silent for too long. Sends a ping in time.
  bool is_silent(State& state);

  // FrameSink: all on the reader.
  Status on_message(protocol::Opcode opcode, ConstBytes payload) override;
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader& chunk, std::size_t size) override;
  Status on_bulk(const protocol::BulkHeader& chunk, std::size_t size) override;
  Status on_acknowledged(std::uint64_t sequence) override;
  void on_ping(std::uint64_t token) override;
  void on_pong(std::uint64_t token) override;

  // Further connections for bulk (streams.cpp).
  void consider_streams(State& state, std::size_t received_bytes, Clock::time_point now);
  void open_streams();
  template <class Function>
  void for_each_stream(Function&& function) noexcept {
    for (std::atomic<net::BulkStream*>& one : streams_) {
      if (net::BulkStream* stream = one.load(std::memory_order_acquire); stream != nullptr) {
        function(*stream);
      }
    }
  }
  bool spread_bulk(State& state);
  Status take_chunk(net::BulkStream& from, const protocol::BulkHeader& header, ByteVector bytes) override;
  void has_room() override;
  bool expects_data() override;
  std::optional<Result<net::BulkStream::Attached>> connect(const net::BulkStream& stream) override;
  void on_failed(const net::BulkStream& stream, const std::string& sentence) override;

  // What the server says (handlers.cpp).
  template <class List, class Handler>
  friend class protocol::Dispatcher;
  Status handle(protocol::ServerInfo&& message);
  Status handle(protocol::SessionFailed&& message);
  Status handle(protocol::ObjectFailed&& message);
  Status handle(protocol::PrintfOutput&& message);
  Status handle(protocol::BuildDone&& message);
  Status handle(protocol::SourceWanted&& message);
  Status handle(protocol::ProgramBinary&& message);
  Status handle(protocol::Completions&& message);
  Status handle(protocol::ReadResult&& message);
  Status handle(protocol::Finished&& message);
  Status handle(protocol::BufferPlaced&& message);
  Status complete(State& state, const protocol::Completion& completion);
  [[nodiscard]] static bool host_is_free(State& state, const HostBox& box, Direction direction);
  void end_reply(PendingReply& reply);
  void end_read(IncomingRead& read, cl_int status, cl_int queue_status);

  // Cut, repair, death (recovery.cpp): all on the reader.
  void on_connection_lost(const Error& reason);
  void repair_step();
  void resume(net::Connection connection);
  void die(const std::string& sentence);

  // The io thread (io_thread.cpp).
  void start_io_thread();
  void io_main();
  bool io_turn();
  bool io_sleep(bool busy);
  void wake_io_if_asleep(bool only_if_for_ever);

  const SessionOptions options_;
  Logger log_;
  SharedRegion buffers_; ///< what the server shares for data; none over a network
  protocol::ServerInfo server_info_;
  bool has_server_info_ = false;
  protocol::Hello hello_; ///< of the next reconnect
  std::uint64_t clock_offset_ns_ = 0;
  std::uint64_t checkpoint_commands_ = kCheckpointCommands;
  std::chrono::microseconds spin_{0};
  const pid_t process_; ///< whose session this is

  std::atomic<std::uint64_t> next_id_{1};
  std::atomic<bool> dead_{false};
  std::atomic<bool> send_failed_{false}; ///< the reader shall look at the connection
  std::atomic<std::int64_t> last_heard_ns_{0};
  std::atomic<std::int64_t> last_poll_ns_{0};
  std::atomic<IoMode> io_mode_{IoMode::kTicking}; ///< changed under the state lock

  // Replaced by the reader only, under the state lock; so the reader may look without it. Null while cut and after death.
  std::shared_ptr<net::Transport> transport_;
  std::atomic<net::Transport*> transport_for_child_{nullptr};

  // The reader's own.
  net::FrameReceiver receiver_;
  std::uint64_t bytes_since_acknowledgement_ = 0; ///< read
  std::optional<std::string> session_failure_;    ///< a SessionFailed has arrived
  std::vector<PendingReply*> replies_done_;       ///< hear after_done() once the lock is free
  // Let go of once the lock is free.
  std::vector<Ref<Event>> events_done_;
  std::vector<Ref<Context>> contexts_done_;
  std::vector<std::unique_ptr<IncomingRead>> reads_done_;
  Clock::time_point repair_deadline_{};
  Clock::time_point next_attempt_{};
  std::size_t attempts_ = 0;
  std::string cut_reason_;

  std::atomic<net::BulkStream*> streams_[protocol::kMaxBulkStreams] = {}; ///< live as long as the session
  bool may_open_streams_ = true;                                          ///< under the state lock
  std::atomic<bool> stream_failed_{false};                                ///< see State::stream_failure

  net::Waker reader_waker_; ///< ends the sleep of a waiting thread that reads
  net::Waker io_waker_;
  std::condition_variable progress_;
  std::condition_variable copies_ended_;
  Guarded<State> state_;
};

} // namespace farcl::driver

#include "driver/session/session_inline.hpp"
