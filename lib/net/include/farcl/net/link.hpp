// The link: sequenced frames over a transport that may be cut and replaced. One FrameSender and one FrameReceiver per session
// and side; they know frames, not messages.
//
// Ownership and threads: a sender is used by one thread at a time (the driver holds its session lock, the worker has one
// session thread); a receiver likewise, perhaps by another thread. They share nothing but `received_sequence`, an atomic.
#pragma once

#include "farcl/base/archive.hpp"
#include "farcl/base/result.hpp"
#include "farcl/net/transport.hpp"
#include "farcl/protocol/frame.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace farcl::net {

/// Encodes messages into a log of bytes, writes the log to a transport, keeps it until the peer has acknowledged it, and
/// writes it again from where the peer is after a reconnect.
class FrameSender {
public:
  /// `received_sequence` is the receiver's: what each frame's header acknowledges.
  explicit FrameSender(const std::atomic<std::uint64_t>& received_sequence);

  /// Appends one message (any type with kOpcode and fields()), encoded in place. Returns its sequence number; 0, and nothing
  /// has been appended, when it is larger than kMaxFramePayloadBytes. Never sends.
  template <class Message>
  std::uint64_t append(const Message& message) {
    ByteVector& block = begin_frame();
    Writer(block).write(message);
    return end_frame(Message::kOpcode);
  }

  /// Appends bulk frames (chunks of kBulkChunkBytes) that refer to `data` without copying it. `keep_alive` is released when
  /// all of it has been acknowledged; the bytes must not change until then. Returns the last sequence number.
  std::uint64_t append_bulk(protocol::TransferId transfer, std::uint64_t offset, ConstBytes data, std::shared_ptr<const void> keep_alive);

  /// Bulk data that is kept alive by `owner` is about to change: whatever of it is not acknowledged is replaced by the copy that
  /// `copy` makes of each piece (the same bytes, kept by the pointer), and `owner` is let go of.
  using BulkCopier = std::function<std::shared_ptr<const std::byte>(ConstBytes piece)>;
  void replace_bulk(const void* owner, const BulkCopier& copy);

  void append_ping(std::uint64_t token);
  void append_pong(std::uint64_t token);
  /// Appends a bare acknowledgement, unless a frame appended before says the same.
  void append_acknowledgement();

  /// Writes what is unsent until all is written (true) or the transport takes no more (false).
  Result<bool> flush(Transport& transport);

  /// The peer has everything up to `sequence`: frees it. A number never sent is a protocol error.
  Status on_acknowledged(std::uint64_t sequence);

  /// A new transport: the peer has everything up to `peer_received`; what is behind that will be sent again. Control frames
  /// that were not sent are dropped. Fails when the peer claims more than was sent or less than was freed.
  Status on_resumed(std::uint64_t peer_received);

  [[nodiscard]] std::uint64_t last_sequence() const noexcept;         ///< of the newest appended frame; 0: none
  [[nodiscard]] std::uint64_t acknowledged_sequence() const noexcept; ///< everything up to here is acknowledged
  [[nodiscard]] std::size_t unsent_bytes() const noexcept;
  [[nodiscard]] std::size_t retained_bytes() const noexcept; ///< appended (sent or not) and not acknowledged
  /// The highest number whose header has been written to a transport as `acknowledged`.
  [[nodiscard]] std::uint64_t sent_acknowledgement() const noexcept;

  // Reserves room in the log for a frame header and returns the block to append the payload to; then fills the header in.
  ByteVector& begin_frame();
  std::uint64_t end_frame(protocol::Opcode opcode);

private:
  // Private members are the implementation's business (src/frame_sender.cpp).
  struct Impl;
  std::unique_ptr<Impl> impl_;

public:
  ~FrameSender();
};

/// What a receiver hands its frames to. Every function runs on the thread that calls FrameReceiver::poll.
class FrameSink {
public:
  virtual ~FrameSink() = default;
  /// A message; `payload` is valid during the call. A failure ends the session.
  virtual Status on_message(protocol::Opcode opcode, ConstBytes payload) = 0;
  /// Where the `size` bytes of this bulk chunk belong: a span of exactly that size, valid until on_bulk. A failure ends the session.
  virtual Result<MutableBytes> bulk_destination(const protocol::BulkHeader& chunk, std::size_t size) = 0;
  /// The chunk has arrived whole. It may arrive again from its start if the connection was cut before (bulk_destination is
  /// then called again).
  virtual Status on_bulk(const protocol::BulkHeader& chunk, std::size_t size) = 0;
  virtual Status on_acknowledged(std::uint64_t sequence) = 0;
  virtual void on_ping(std::uint64_t token) = 0;
  virtual void on_pong(std::uint64_t token) = 0;
};

class FrameReceiver {
public:
  FrameReceiver();
  ~FrameReceiver();

  /// Reads what the transport has, without waiting, and hands whole frames to the sink; bulk data goes straight to its
  /// destination. Stops after about `budget_bytes` so that others get their turn. Returns the bytes read: 0 means that nothing
  /// was there. Frames with numbers that were received before are dropped; a gap is an error (kInvalid).
  Result<std::size_t> poll(Transport& transport, FrameSink& sink, std::size_t budget_bytes = 1u << 20);

  /// A new transport: forgets a half-received frame.
  void on_resumed();

  /// The last sequence number that was received and handled (or is being handled: what a handler sends acknowledges it).
  /// What the sender acknowledges. Any thread.
  [[nodiscard]] const std::atomic<std::uint64_t>& received_sequence() const noexcept;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// An acknowledgement on its own is due when that many sequenced bytes or frames have been received since the last one that
/// was sent; the owner also sends one before it goes to sleep.
inline constexpr std::uint64_t kAcknowledgeAfterFrames = 256;
inline constexpr std::uint64_t kAcknowledgeAfterBytes = 256u << 10;

} // namespace farcl::net
