// ReadStreams: reads whose bytes leave as bulk frames.
//
// Where this process reaches the buffer's bytes, and they lie in one piece, they are sent from there: nothing is copied. Such a read is
// told to the client as complete behind its last chunk. The commands behind it, which may change the buffer, have to wait until the
// client has acknowledged all of it, because a cut connection means sending again; if there are any, what is not acknowledged is
// copied instead and they start at once. Commands that the client sends because it knows of the read's end come with that
// acknowledgement.
//
// Other reads go chunk by chunk from the device into recycled blocks and leave from there. What is in flight is bounded, also for
// one slow client. Streams take turns, chunk by chunk, and small messages go in between. On a long link the chunks, copies all of
// them, go over the further streams for bulk. Session thread only.
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
  /// The client has acknowledged more on the stream of commands. Starts nothing.
  void on_acknowledged();
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
    std::shared_ptr<Chunk> fetching;  ///< the device writes to it
    ConstBytes in_place;              ///< the whole read, where it can be sent from the buffer itself
    std::shared_ptr<MemoryPtr> lease; ///< keeps that memory; its address names the stream's pieces in the sender
    std::uint64_t last_in_place = 0;  ///< number of the newest chunk that was sent so
    bool announced = false;           ///< the client has been told; pieces of the buffer are not acknowledged
    net::BulkStream* via = nullptr;   ///< where the chunk that is being fetched goes; null: the stream of commands
    /// Chunks on further streams that the client has not acknowledged. They may be later than what is said on the stream of
    /// commands, so the read is complete only after the last of them.
    std::shared_ptr<std::atomic<std::uint32_t>> unacknowledged = std::make_shared<std::atomic<std::uint32_t>>(0);
  };
  void next_chunk(Stream& stream, net::BulkStream* via);
  [[nodiscard]] std::shared_ptr<Chunk> chunk_for(const Stream& stream, net::BulkStream* via);
  void fetch_chunk(Stream& stream, net::BulkStream* via, std::size_t size_bytes);
  void send_chunk(Stream& stream, std::shared_ptr<Chunk> chunk, const DeviceResult& result);
  /// Of a read that has been sent whole: tells the client, and ends it when that may be. True when it has ended.
  bool finish(Stream& stream);
  void end(Stream& stream, cl_int status);
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
