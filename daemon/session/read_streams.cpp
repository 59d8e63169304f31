#include "daemon/session/read_streams.hpp"

#include "farcl/protocol/limits.hpp"

#include <algorithm>

namespace farcl::daemon {

namespace {
/// In the sender and not acknowledged: covers 8 ms at 1 GB/s.
constexpr std::uint64_t kReadWindowBytes = 8u << 20;
/// In the sender and not written: enough to keep the socket fed between two turns, little enough for small messages to pass.
constexpr std::uint64_t kUnsentWindowBytes = 1u << 20;
constexpr std::size_t kPooledChunks = 48;
} // namespace

struct ReadStreams::Chunk {
  alignas(64) std::byte bytes[protocol::kBulkChunkBytes];
  std::size_t size = 0;
};

/// Blocks for chunks. Lives as long as the last chunk that came from it, which the sender may hold.
class ReadStreams::Pool {
public:
  static std::shared_ptr<Chunk> take(const std::shared_ptr<Pool>& pool) {
    std::unique_ptr<Chunk> chunk;
    if (pool->free_.empty()) {
      chunk = std::make_unique_for_overwrite<Chunk>(); // 256 KiB of zeros would cost as much as the copy
    } else {
      chunk = std::move(pool->free_.back());
      pool->free_.pop_back();
    }
    return {chunk.release(), [pool](Chunk* used) { pool->give_back(std::unique_ptr<Chunk>(used)); }};
  }

private:
  void give_back(std::unique_ptr<Chunk> chunk) {
    if (free_.size() < kPooledChunks) {
      free_.push_back(std::move(chunk));
    }
  }
  std::vector<std::unique_ptr<Chunk>> free_;
};

ReadStreams::ReadStreams(Scheduler& scheduler, net::FrameSender& sender, BulkStreams& further, CompletionSink& sink)
    : scheduler_(scheduler), sender_(sender), further_(further), sink_(sink), pool_(std::make_shared<Pool>()) {}

void ReadStreams::start(Command& command) {
  streams_.emplace_back();
  streams_.back().command = &command;
}

bool ReadStreams::window_is_open(const net::Transport* transport) {
  return transport != nullptr && sender_.retained_bytes() < kReadWindowBytes && sender_.unsent_bytes() < kUnsentWindowBytes &&
         window_.is_open(*transport, sender_.unsent_bytes());
}

bool ReadStreams::pump(const net::Transport* transport) {
  bool any = false;
  const bool further = further_.are_connected();
  for (bool progress = true; progress && !streams_.empty();) {
    progress = false;
    for (Stream& stream : streams_) {
      if (stream.fetching != nullptr) {
        continue;
      }
      if (stream.sent_bytes == std::get<ReadWork>(stream.command->work).size_bytes) {
        progress |= complete_if_arrived(stream);
      } else if (net::BulkStream* via = further ? further_.with_room() : nullptr;
                 via != nullptr || (!further && window_is_open(transport))) {
        next_chunk(stream, via);
        progress = true;
      }
    }
    any |= progress;
    remove_ended();
  }
  if (streams_.empty()) {
    window_.ran_dry();
  }
  return any;
}

bool ReadStreams::complete_if_arrived(Stream& stream) {
  if (stream.unacknowledged->load() != 0) {
    return false;
  }
  Command& command = *std::exchange(stream.command, nullptr); // removed by the caller
  scheduler_.complete(command, CL_COMPLETE);
  return true;
}

/// A block of the pool; for a further stream, whose thread lets go of it, one of its own.
std::shared_ptr<ReadStreams::Chunk> ReadStreams::chunk_for(const Stream& stream, net::BulkStream* via) {
  if (via == nullptr) {
    return Pool::take(pool_);
  }
  stream.unacknowledged->fetch_add(1);
  return {std::make_unique_for_overwrite<Chunk>().release(), [count = stream.unacknowledged, &streams = further_](Chunk* used) {
            delete used;
            if (count->fetch_sub(1) == 1) {
              streams.wake();
            }
          }};
}

void ReadStreams::next_chunk(Stream& stream, net::BulkStream* via) {
  auto& work = std::get<ReadWork>(stream.command->work);
  auto chunk = chunk_for(stream, via);
  stream.via = via;
  const std::size_t size = via != nullptr ? via->chunk_bytes() : window_.chunk_bytes();
  chunk->size = static_cast<std::size_t>(std::min<std::uint64_t>(size, work.size_bytes - stream.sent_bytes));
  work.read.skip_bytes = stream.sent_bytes;
  work.read.into = MutableBytes(chunk->bytes, chunk->size);
  Queue& queue = *stream.command->queue;
  const auto result = queue.device->submit(work.read, reinterpret_cast<Token>(stream.command), queue.profiling, sink_);
  if (result) {
    send_chunk(stream, std::move(chunk), *result);
  } else {
    stream.fetching = std::move(chunk);
  }
}

void ReadStreams::send_chunk(Stream& stream, std::shared_ptr<Chunk> chunk, const DeviceResult& result) {
  Command& command = *stream.command;
  auto& work = std::get<ReadWork>(command.work);
  command.times.started_ns = stream.sent_bytes == 0 ? result.started_ns : command.times.started_ns;
  command.times.ended_ns = result.ended_ns;
  if (result.status >= 0) {
    const ConstBytes bytes(chunk->bytes, chunk->size);
    if (stream.via != nullptr) {
      stream.via->send({{work.transfer, stream.sent_bytes}, bytes, std::move(chunk)});
    } else {
      sender_.append_bulk(work.transfer, stream.sent_bytes, bytes, std::move(chunk));
      window_.appended(bytes.size());
    }
    stream.sent_bytes += bytes.size();
    if (stream.sent_bytes < work.size_bytes || stream.unacknowledged->load() != 0) {
      return;
    }
  }
  stream.command = nullptr; // removed by the caller, which may be walking over the streams: nothing may start here
  scheduler_.complete(command, result.status);
}

bool ReadStreams::on_device_result(Command& command, const DeviceResult& result) {
  const auto found = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& stream) { return stream.command == &command; });
  if (found == streams_.end()) {
    return false;
  }
  send_chunk(*found, std::move(found->fetching), result);
  remove_ended();
  return true;
}

void ReadStreams::remove_ended() {
  streams_.erase(std::remove_if(streams_.begin(), streams_.end(), [](const Stream& stream) { return stream.command == nullptr; }),
                 streams_.end());
}

} // namespace farcl::daemon
