// BulkStreams: the further connections for bulk of one session (net::BulkStream), each with a thread.
//
// Threads: the session thread attaches, asks for room, and gets the chunks that have come through its mailbox. A chunk whose
// transfer has not been announced yet waits here (its message is on its way on the stream of commands) for a bounded time.
#pragma once

#include "daemon/session/transfers.hpp"
#include "farcl/net/bulk_stream.hpp"

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

namespace farcl::daemon {

/// A chunk on its way from a stream's thread to the session thread.
struct ChunkArrival {
  net::BulkStream* stream = nullptr;
  protocol::BulkHeader header;
  ByteVector bytes;
};
/// A stream that cannot go on.
struct StreamFailure {
  std::string sentence;
};

class BulkStreams final : private net::BulkStream::Owner {
public:
  struct Hooks {
    std::function<void(ChunkArrival)> on_chunk;    ///< any thread
    std::function<void(StreamFailure)> on_failure; ///< any thread
    std::function<void()> wake;                    ///< any thread: there is room again, or chunks were acknowledged
  };
  explicit BulkStreams(Hooks hooks) : hooks_(std::move(hooks)) {}
  ~BulkStreams() override;
  BulkStreams(const BulkStreams&) = delete;
  BulkStreams& operator=(const BulkStreams&) = delete;

  /// A connection for stream `number`, 1 to protocol::kMaxBulkStreams.
  void attach(std::uint8_t number, net::BulkStream::Attached connection);
  [[nodiscard]] bool are_connected() const noexcept;
  /// One that takes a chunk now, or null.
  [[nodiscard]] net::BulkStream* with_room() noexcept;
  void wake() { hooks_.wake(); }

  /// Gives the chunk to its transfer, or keeps it until that is announced.
  [[nodiscard]] Status deliver(ChunkArrival arrival, Transfers& transfers);
  /// After messages have come: chunks that waited for them. `patience`: how long they may.
  [[nodiscard]] Status deliver_waiting(Transfers& transfers, std::chrono::seconds patience);
  [[nodiscard]] bool any_waiting() const noexcept { return !waiting_.empty(); }

private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::unique_ptr<net::BulkStream> stream;
    std::thread thread;
  };
  struct Waiting {
    ChunkArrival arrival;
    Clock::time_point since;
  };

  Status take_chunk(net::BulkStream& from, const protocol::BulkHeader& header, ByteVector bytes) override;
  void has_room() override { hooks_.wake(); }
  bool expects_data() override { return false; }
  std::optional<Result<net::BulkStream::Attached>> connect(const net::BulkStream&) override { return std::nullopt; }
  void on_failed(const net::BulkStream& stream, const std::string& sentence) override;

  Hooks hooks_;
  std::array<Entry, protocol::kMaxBulkStreams> entries_; ///< [number - 1]
  std::size_t next_ = 0;
  std::deque<Waiting> waiting_;
};

} // namespace farcl::daemon
