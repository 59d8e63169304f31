// Session: one client's session, from its first connection to its end.
//
// Threads: further connections for bulk have a thread each (BulkStreams), which posts chunks here. `run` is the session thread; it owns
// everything here (tables, scheduler, sender, receiver, transport). Other threads reach it through two mailboxes: devices and builders post
// completions, text and programs, whoever accepts connections posts those and the order to end. Each post notifies the one Waker that the
// session thread sleeps on.
//
// A turn of the loop: take mail, read what the transport has, start what is ready, send chunks of large reads, flush once: all
// replies of a turn leave together. When a turn found nothing to do the thread spins for a while (if it gets a permit), then
// acknowledges what it has received and sleeps; a silent session costs nothing.
#pragma once

#include "daemon/handlers/handlers.hpp"
#include "daemon/session/state.hpp"
#include "farcl/base/log.hpp"
#include "farcl/base/mailbox.hpp"
#include "farcl/net/link.hpp"
#include "farcl/net/transport.hpp"
#include "farcl/protocol/hello.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <variant>

namespace farcl::daemon {

/// Who may spin: shared by all sessions of a server. Both functions are called by the session thread and never block.
class SpinPermit {
public:
  virtual ~SpinPermit() = default;
  [[nodiscard]] virtual bool try_acquire() = 0;
  virtual void release() = 0;
};

/// A connection of this session whose hello has been checked; the session answers it.
struct Attachment {
  net::TransportPtr transport;
  std::uint16_t version_min = protocol::kVersion;
  std::uint16_t version_max = protocol::kVersion;
  bool resume = false;
  std::uint64_t received = 0; ///< the last sequence number that the client has
  bool resumable = true;      ///< false: the session ends with this connection
  std::uint8_t stream = 0;    ///< the number of a further stream for bulk; 0: the stream of commands
  /// Memory whose descriptor goes along with the answer; what the first connection brings is the session's.
  std::shared_ptr<SharedArena> shared;
};

struct SessionConfig {
  SessionParts parts;
  protocol::SessionId id{};
  std::array<std::uint8_t, 32> secret{};
  std::chrono::microseconds spin{200};
  SpinPermit* permit = nullptr;                    ///< null: never spins
  std::atomic<std::uint64_t>* heartbeat = nullptr; ///< counts turns; may be null
  const Logger* log = nullptr;                     ///< may be null
};

/// How a session ended, as the end of a sentence: "the client said goodbye".
struct SessionEnd {
  std::string reason;
  bool failed = false; ///< a protocol error or a limit
};

class Session final : private net::FrameSink, private CompletionSink {
public:
  explicit Session(SessionConfig config);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Until the session has ended: by a goodbye, a protocol error, an order, or when no connection came for
  /// limits.resume_seconds. Commands may still run on devices then; they must be stopped before the session is destroyed.
  SessionEnd run();

  // Any thread.
  void attach(Attachment attachment) { control_.post(std::move(attachment)); }
  /// Ends the session: tells the client the sentence if it is not empty.
  void end(std::string sentence) { control_.post(EndOrder{std::move(sentence)}); }

private:
  struct EndOrder {
    std::string sentence;
  };
  using ControlMail = std::variant<Attachment, EndOrder>;
  struct DeviceDone {
    Token token;
    DeviceResult result;
  };
  using DeviceMail = std::variant<DeviceDone, std::string, BuildArrival, ChunkArrival, StreamFailure>;

  // FrameSink
  Status on_message(protocol::Opcode opcode, ConstBytes payload) override;
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader& chunk, std::size_t size) override;
  Status on_bulk(const protocol::BulkHeader& chunk, std::size_t size) override;
  Status on_acknowledged(std::uint64_t sequence) override;
  void on_ping(std::uint64_t token) override;
  void on_pong(std::uint64_t) override {}
  // CompletionSink
  void complete(Token token, const DeviceResult& result) noexcept override;
  bool print(std::string text) noexcept override;

  // session.cpp: the loop
  bool turn();
  bool take_control();
  bool take_device_mail();
  bool receive();
  bool flush();
  void hear_last_words();
  void rest();
  bool spin();
  void sleep();
  void acknowledge_if_due();
  [[nodiscard]] bool completions_are_late();
  void send_server_info();
  void say_farewell();
  // attach.cpp: connections come and go
  void take(Attachment attachment);
  void take(EndOrder order);
  void take_stream(Attachment attachment);
  void detach(const Error& why);
  [[nodiscard]] Status answer_hello(net::Transport& transport, bool first, protocol::HelloStatus status, std::string text);
  void end_session(std::string reason, bool failed);
  void fail_session(const std::string& sentence);
  // device mail
  void take(DeviceDone done);
  void take(std::string text);
  void take(BuildArrival arrival);
  void take(ChunkArrival arrival);
  void take(StreamFailure failure) { fail_session(failure.sentence); }
  void deliver_waiting_chunks();

  [[nodiscard]] bool backed_up() const;
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] Clock::time_point patience_ends() const; ///< of a session without connection
  [[nodiscard]] bool detached_too_long() const;

  SessionConfig config_;
  net::Waker waker_;
  Mailbox<ControlMail> control_;
  Mailbox<DeviceMail> mail_;
  std::atomic<std::uint64_t> waiting_text_bytes_{0};
  net::FrameReceiver receiver_;
  net::FrameSender sender_;
  std::unique_ptr<SessionState> state_;
  Handlers handlers_;

  net::TransportPtr transport_;
  bool welcomed_ = false; ///< the first connection has been answered
  bool resumable_ = true;
  bool write_blocked_ = false;
  Clock::time_point detached_since_;
  std::uint64_t bytes_since_acknowledgement_ = 0;
  Clock::time_point completions_since_; ///< the oldest one waits since; zero: none was seen
  bool ended_ = false;
  SessionEnd end_;
  std::string farewell_;
};

} // namespace farcl::daemon
