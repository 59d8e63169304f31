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

ReadStreams::ReadStreams(Scheduler& scheduler, net::FrameSender& sender, CompletionSink& sink)
    : scheduler_(scheduler), sender_(sender), sink_(sink), pool_(std::make_shared<Pool>()) {}

void ReadStreams::start(Command& command) { streams_.push_back({&command, 0, nullptr}); }

bool ReadStreams::window_is_open(const net::Transport& transport) {
  return sender_.retained_bytes() < kReadWindowBytes && sender_.unsent_bytes() < kUnsentWindowBytes &&
         window_.is_open(transport, sender_.unsent_bytes());
}

bool ReadStreams::pump(const net::Transport& transport) {
  bool any = false;
  for (bool progress = true; progress && !streams_.empty();) {
    progress = false;
    for (Stream& stream : streams_) {
      if (stream.fetching == nullptr && window_is_open(transport)) {
        next_chunk(stream);
        progress = any = true;
      }
    }
    remove_ended();
  }
  if (streams_.empty()) {
    window_.ran_dry();
  }
  return any;
}

void ReadStreams::next_chunk(Stream& stream) {
  auto& work = std::get<ReadWork>(stream.command->work);
  auto chunk = Pool::take(pool_);
  chunk->size = static_cast<std::size_t>(std::min<std::uint64_t>(window_.chunk_bytes(), work.size_bytes - stream.sent_bytes));
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
    sender_.append_bulk(work.transfer, stream.sent_bytes, bytes, std::move(chunk));
    window_.appended(bytes.size());
    stream.sent_bytes += bytes.size();
    if (stream.sent_bytes < work.size_bytes) {
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
