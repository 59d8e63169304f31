// BulkStream: a further connection of a session, for bulk frames only. Sessions on long links have some of them, because the windows
// of one TCP connection do not cover such a link, and because bulk that is lost on its own connection holds up no small message.
//
// It is a link of its own: own sender and receiver, own sequence numbers, acknowledgements and resume, so that a cut at any byte is
// repaired like that of the stream of commands. Both ends are the same class.
//
// Threads: one of its own (`main`) owns the sender, the receiver and the transport, reads, writes, and at the client makes new
// connections. Chunks come to it from the session through a mailbox, and go from it to the session through the Owner. Bytes are
// copied on the way in and out, once each: then no memory of the program or of a buffer has to stay where it is for a stream.
#pragma once

#include "farcl/base/mailbox.hpp"
#include "farcl/net/bulk_window.hpp"
#include "farcl/net/connect.hpp"
#include "farcl/net/link.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace farcl::net {

/// A piece of a transfer, with memory of its own.
struct BulkChunk {
  protocol::BulkHeader header;
  ConstBytes bytes;
  std::shared_ptr<const void> keep_alive; ///< of `bytes`; let go of when the peer has acknowledged them
};

class BulkStream final : private FrameSink {
public:
  /// A connection whose hello has been exchanged, or read and not answered yet (`reply`).
  struct Attached {
    TransportPtr transport;
    std::uint64_t peer_received = 0; ///< the last frame of this stream that the peer has
    std::optional<protocol::HelloReply> reply;
  };

  /// The session. All on the stream's thread, under no lock of the stream's.
  class Owner {
  public:
    virtual ~Owner() = default;
    /// A chunk has come, at most protocol::kBulkChunkBytes. The stream acknowledges it after this. A failure ends the stream.
    virtual Status take_chunk(BulkStream& from, const protocol::BulkHeader& header, ByteVector bytes) = 0;
    /// There is room again; somebody has asked for it.
    virtual void has_room() = 0;
    /// True while data of this direction may be missing: then a silent connection is asked whether it lives.
    [[nodiscard]] virtual bool expects_data() = 0;
    /// One attempt at a new connection (a first one too); nothing from an owner that waits for the peer to make one.
    virtual std::optional<Result<Attached>> connect(const BulkStream& stream) = 0;
    /// It cannot go on: what was on it is lost, and so is the session.
    virtual void on_failed(const BulkStream& stream, const std::string& sentence) = 0;
  };

  /// `number`: its name within the session, from 1. `patience`: how long a cut may last at an owner that makes connections.
  BulkStream(Owner& owner, std::uint8_t number, std::chrono::milliseconds patience);
  ~BulkStream() override;

  // --- Any thread -------------------------------------------------------------------------------------------------------------
  [[nodiscard]] std::uint8_t number() const noexcept { return number_; }
  [[nodiscard]] const std::atomic<std::uint64_t>& received_sequence() const noexcept { return receiver_.received_sequence(); }
  /// A connection that the peer has made; replaces the one before.
  void attach(Attached connection) { mail_.post(std::move(connection)); }
  /// False when it takes no chunk now: Owner::has_room will be called. One thread at a time.
  [[nodiscard]] bool has_room();
  /// After has_room. Keeps the bytes alive until they are acknowledged.
  void send(BulkChunk chunk);
  [[nodiscard]] std::size_t chunk_bytes() const noexcept { return chunk_bytes_.load(std::memory_order_relaxed); }
  /// False until its first connection.
  [[nodiscard]] bool has_lived() const noexcept { return has_lived_.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_connected() const noexcept { return connected_.load(std::memory_order_acquire); }
  /// A chunk that Owner::take_chunk kept has been used. While too many are not, the stream does not read.
  void chunk_used();
  /// Cuts the connection, for tests.
  void cut() { mail_.post(Cut{}); }
  /// Ends the thread's work soon; nothing is called any more once it has ended.
  void stop();
  /// For a forked child: the transport, if there is one.
  [[nodiscard]] Transport* transport_for_child() noexcept { return transport_for_child_.exchange(nullptr); }

  /// The thread's main function, until stop(). The owner starts it.
  void main();

private:
  using Clock = std::chrono::steady_clock;
  struct Cut {};
  using Mail = std::variant<Attached, BulkChunk, Cut>;

  void take_mail();
  void take(Attached connection);
  void take(BulkChunk chunk);
  void take(Cut);
  void repair();
  Status turn();
  void publish_room();
  void sleep();
  Status check_silence();
  void lose_connection(const Error& why);
  void give_up(const std::string& sentence);

  Status on_message(protocol::Opcode opcode, ConstBytes payload) override;
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader& chunk, std::size_t size) override;
  Status on_bulk(const protocol::BulkHeader& chunk, std::size_t size) override;
  Status on_acknowledged(std::uint64_t sequence) override { return sender_.on_acknowledged(sequence); }
  void on_ping(std::uint64_t token) override { sender_.append_pong(token); }
  void on_pong(std::uint64_t) override {}

  Owner& owner_;
  const std::uint8_t number_;
  const std::chrono::milliseconds patience_;

  Waker waker_;
  Mailbox<Mail> mail_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> connected_{false};
  std::atomic<bool> has_lived_{false};
  std::atomic<bool> room_wanted_{false};
  std::atomic<std::int64_t> room_bytes_{0}; ///< that may still be sent
  std::atomic<std::size_t> chunk_bytes_{BulkWindow::kLeastBytes};
  std::atomic<std::uint32_t> unused_chunks_{0};
  std::atomic<Transport*> transport_for_child_{nullptr};

  // The thread's own.
  FrameReceiver receiver_;
  FrameSender sender_{receiver_.received_sequence()};
  BulkWindow window_;
  TransportPtr transport_;
  bool failed_ = false;
  bool write_blocked_ = false;
  ByteVector incoming_; ///< the chunk that is being received
  Clock::time_point heard_{};
  Clock::time_point pinged_{}; ///< zero: no pong is awaited
  Clock::time_point cut_since_{};
  Clock::time_point next_attempt_{};
};

} // namespace farcl::net
