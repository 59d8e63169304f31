// ReadStreams: reads whose bytes leave as bulk frames.
//
// Each chunk is read from the device into a recycled block of kBulkChunkBytes and sent from there, so the buffer may change
// as soon as the last chunk has been read, whatever the client has acknowledged. The copy stays in the cache: the block is
// written and sent within microseconds and soon used again. What is in flight is bounded, also for one slow client. Streams
// take turns, chunk by chunk, and small messages go in between. Session thread only.
#pragma once

#include "daemon/scheduler/scheduler.hpp"
#include "farcl/net/bulk_window.hpp"
#include "farcl/net/link.hpp"

#include <deque>
#include <memory>

namespace farcl::daemon {

class ReadStreams {
public:
  ReadStreams(Scheduler& scheduler, net::FrameSender& sender, CompletionSink& sink);

  void start(Command& command);
  /// Sends chunks while the windows allow. True if anything was done; the caller then calls Scheduler::start_ready.
  bool pump(const net::Transport& transport);
  /// True when chunks wait only for the link to deliver what is on its way: pump again after net::kBulkLookEvery.
  [[nodiscard]] bool is_held_back() const noexcept { return !streams_.empty() && window_.is_holding(); }
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
  };
  void next_chunk(Stream& stream);
  void send_chunk(Stream& stream, std::shared_ptr<Chunk> chunk, const DeviceResult& result);
  [[nodiscard]] bool window_is_open(const net::Transport& transport);
  void remove_ended();

  Scheduler& scheduler_;
  net::FrameSender& sender_;
  CompletionSink& sink_;
  net::BulkWindow window_;
  std::shared_ptr<Pool> pool_;
  std::deque<Stream> streams_;
};

} // namespace farcl::daemon
