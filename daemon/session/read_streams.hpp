// ReadStreams: reads whose bytes leave as bulk frames.
//
// Where this process reaches the buffer's bytes, and they lie in one piece, they are sent from there: nothing is copied. Such a read is
// told to the client as complete behind its last chunk. The commands behind it, which may change the buffer, have to wait until the
// client has acknowledged all of it, because a cut connection means sending again; if there are any, what is not acknowledged is
// copied instead and they start at once. Commands that the client sends because it knows of the read's end come with that
// acknowledgement.
//
// Other reads go chunk by chunk from the device into recycled blocks of kBulkChunkBytes and leave from there. What is in flight is
// bounded, also for one slow client. Streams take turns, chunk by chunk, and small messages go in between. Session thread only.
#pragma once

#include "daemon/scheduler/scheduler.hpp"
#include "farcl/net/link.hpp"

#include <deque>
#include <memory>

namespace farcl::daemon {

class ReadStreams {
public:
  ReadStreams(Scheduler& scheduler, net::FrameSender& sender, CompletionSink& sink);

  void start(Command& command);
  /// Sends chunks while the windows allow. True if anything was done; the caller then calls Scheduler::start_ready.
  bool pump();
  /// The client has acknowledged more. Starts nothing.
  void on_acknowledged();
  /// A chunk that the device had to fetch: the command's completion, if it belongs to a stream.
  [[nodiscard]] bool on_device_result(Command& command, const DeviceResult& result);

private:
  struct Chunk;
  class Pool;
  struct Stream {
    Command* command = nullptr;
    std::uint64_t sent_bytes = 0;
    std::shared_ptr<Chunk> fetching;    ///< the device writes to it
    ConstBytes in_place;                ///< the whole read, where it is sent from the buffer itself
    std::shared_ptr<MemoryPtr> lease{}; ///< keeps that memory; its address names the stream's pieces in the sender
    std::uint64_t last_sequence = 0;    ///< of the last chunk of such a read, once it has been appended
  };
  void next_chunk(Stream& stream);
  void fetch_chunk(Stream& stream, std::uint64_t size_bytes);
  void send_in_place(Stream& stream, std::uint64_t size_bytes);
  void send_chunk(Stream& stream, std::shared_ptr<Chunk> chunk, const DeviceResult& result);
  /// Ends a read that was sent in place and announced, if commands wait behind it.
  bool give_way(Stream& stream);
  void end(Stream& stream, cl_int status);
  [[nodiscard]] bool window_is_open() const;
  void remove_ended();

  Scheduler& scheduler_;
  net::FrameSender& sender_;
  CompletionSink& sink_;
  std::shared_ptr<Pool> pool_;
  std::deque<Stream> streams_;
};

} // namespace farcl::daemon
