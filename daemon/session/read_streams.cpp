#include "daemon/session/read_streams.hpp"

#include "daemon/device/rect_walk.hpp"
#include "daemon/session/objects.hpp"
#include "farcl/protocol/limits.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

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

namespace {
/// The read's bytes where they lie, if this process reaches them and they have no gaps.
ConstBytes bytes_in_place(const ReadWork& work) {
  const std::byte* base = work.read.source.memory->host_pointer();
  return base != nullptr && is_contiguous(work.read.rect)
             ? ConstBytes(base + work.read.source.offset + work.read.rect.offset, work.size_bytes)
             : ConstBytes();
}

std::uint64_t clock_if(bool wanted) { return wanted ? device_clock_ns() : 0; }
} // namespace

void ReadStreams::start(Command& command) {
  Stream& stream = streams_.emplace_back();
  stream.command = &command;
  stream.in_place = bytes_in_place(std::get<ReadWork>(command.work));
  if (!stream.in_place.empty()) {
    stream.lease = std::make_shared<MemoryPtr>(command.buffers.front()->memory);
    command.times.started_ns = clock_if(command.queue->profiling);
  }
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
        progress |= finish(stream);
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

// At once, not in the next turn: the same bytes may bring a write to the buffer, which is received in place if nothing is before it.
void ReadStreams::on_acknowledged() {
  for (Stream& stream : streams_) {
    if (stream.announced && sender_.acknowledged_sequence() >= stream.last_in_place) {
      end(stream, CL_COMPLETE);
    }
  }
  remove_ended();
}

bool ReadStreams::finish(Stream& stream) {
  if (stream.unacknowledged->load() != 0) {
    return false;
  }
  if (stream.last_in_place == 0 || sender_.acknowledged_sequence() >= stream.last_in_place) {
    end(stream, CL_COMPLETE);
    return true;
  }
  Command& command = *stream.command;
  if (!stream.announced) {
    stream.announced = true;
    command.times.ended_ns = clock_if(command.queue->profiling);
    scheduler_.announce(command, CL_COMPLETE);
  }
  if (command.edges == nullptr) {
    return false; // nobody waits: nothing can change the buffer
  }
  sender_.replace_bulk(stream.lease.get(), [this](ConstBytes piece) {
    std::shared_ptr<Chunk> chunk = Pool::take(pool_);
    std::memcpy(chunk->bytes, piece.data(), piece.size());
    return std::shared_ptr<const std::byte>(chunk, chunk->bytes);
  });
  end(stream, CL_COMPLETE);
  return true;
}

void ReadStreams::next_chunk(Stream& stream, net::BulkStream* via) {
  const auto& work = std::get<ReadWork>(stream.command->work);
  const std::size_t most = via != nullptr ? via->chunk_bytes() : window_.chunk_bytes();
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(most, work.size_bytes - stream.sent_bytes));
  if (via == nullptr && !stream.in_place.empty()) {
    stream.last_in_place =
        sender_.append_bulk(work.transfer, stream.sent_bytes, stream.in_place.subspan(stream.sent_bytes, size), stream.lease);
    window_.appended(size);
    stream.sent_bytes += size;
  } else {
    fetch_chunk(stream, via, size);
  }
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

void ReadStreams::fetch_chunk(Stream& stream, net::BulkStream* via, std::size_t size_bytes) {
  auto& work = std::get<ReadWork>(stream.command->work);
  auto chunk = chunk_for(stream, via);
  stream.via = via;
  chunk->size = size_bytes;
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
    if (stream.sent_bytes < work.size_bytes || stream.unacknowledged->load() != 0 || stream.last_in_place != 0) {
      return; // pump goes on, or ends it
    }
  }
  end(stream, result.status);
}

void ReadStreams::end(Stream& stream, cl_int status) {
  Command& command = *std::exchange(stream.command, nullptr); // removed by the caller, which may be walking over the streams
  scheduler_.complete(command, status);                       // nothing starts here
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
