// ReadStreams: reads whose bytes leave as bulk frames.
//
// Each chunk is read from the device into a recycled block of kBulkChunkBytes and sent from there, so the buffer may change
// as soon as the last chunk has been read, whatever the client has acknowledged. The copy stays in the cache: the block is
// written and sent within microseconds and soon used again. What is in flight is bounded, also for one slow client. Streams
// take turns, chunk by chunk, and small messages go in between. On a long link the chunks go over the further streams for bulk.
// Session thread only.
#pragma once

#include "daemon/scheduler/scheduler.hpp"
#include "daemon/session/bulk_streams.hpp"
#include "farcl/net/bulk_window.hpp"
#include "farcl/net/link.hpp"

#include <atomic>
#include <deque>
#include <memory>

namespace farcl::daemon {

class ReadStreams {
public:
  ReadStreams(Scheduler& scheduler, net::FrameSender& sender, BulkStreams& further, CompletionSink& sink);

  void start(Command& command);
  /// Sends chunks while the windows allow. `transport`: of the stream of commands, or null. True if anything was done; the caller then
  /// calls Scheduler::start_ready.
  bool pump(const net::Transport* transport);
  /// True when chunks wait only for the link to deliver what is on its way: pump again after net::kBulkLookEvery.
  [[nodiscard]] bool is_held_back() const noexcept { return !streams_.empty() && window_.is_holding() && !further_.are_connected(); }
  /// A new connection.
  void forget_link() noexcept { window_.reset(); }
  /// A chunk that the device had to fetch: the command's completion, if it belongs to a stream.
  [[nodiscard]] bool on_device_result(Command& command, const DeviceResult& result);

private:
  struct Chunk;
  class Pool;
  struct Stream {
    Command* command = nullptr;
    std::uint64_t sent_bytes = 0;
    std::shared_ptr<Chunk> fetching; ///< the device writes to it
    net::BulkStream* via = nullptr;  ///< where that one goes; null: the stream of commands
    /// Chunks on further streams that the client has not acknowledged. They may be later than what is said on the stream of
    /// commands, so the read is complete only after the last of them.
    std::shared_ptr<std::atomic<std::uint32_t>> unacknowledged = std::make_shared<std::atomic<std::uint32_t>>(0);
  };
  void next_chunk(Stream& stream, net::BulkStream* via);
  [[nodiscard]] std::shared_ptr<Chunk> chunk_for(const Stream& stream, net::BulkStream* via);
  bool complete_if_arrived(Stream& stream);
  void send_chunk(Stream& stream, std::shared_ptr<Chunk> chunk, const DeviceResult& result);
  [[nodiscard]] bool window_is_open(const net::Transport* transport);
  void remove_ended();

  Scheduler& scheduler_;
  net::FrameSender& sender_;
  BulkStreams& further_;
  CompletionSink& sink_;
  net::BulkWindow window_;
  std::shared_ptr<Pool> pool_;
  std::deque<Stream> streams_;
};

} // namespace farcl::daemon
