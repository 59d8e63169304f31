#include "farcl/base/trace.hpp"
#include "farcl/net/link.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace farcl::net {

using protocol::BulkHeader;
using protocol::FrameHeader;
using protocol::kBulkHeaderBytes;
using protocol::kFrameHeaderBytes;

namespace {
constexpr std::size_t kBufferBytes = 64u << 10;
/// After a bulk frame another one is likely: only its header is read into the buffer, so that its data needs no copy.
constexpr std::size_t kBulkHeadBytes = kFrameHeaderBytes + kBulkHeaderBytes;
} // namespace

struct FrameReceiver::Impl {
  std::atomic<std::uint64_t> received{0};
  std::uint64_t acknowledged = 0; ///< the highest that the sink has heard of

  // Bytes [begin, end) of the buffer have been read and not been handled: the start of a frame.
  std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(kBufferBytes);
  std::size_t capacity = kBufferBytes;
  std::size_t begin = 0;
  std::size_t end = 0;

  // A bulk frame whose header has been handled; its missing bytes are read straight to where they belong.
  bool in_bulk = false;
  BulkHeader bulk;
  std::size_t bulk_size = 0;
  std::uint64_t bulk_sequence = 0;
  MutableBytes bulk_left;       ///< what is still to be filled
  std::size_t discard_left = 0; ///< of a bulk frame that was received before
  bool after_bulk = false;      ///< the last frame was bulk

  Result<std::size_t> poll(Transport& transport, FrameSink& sink, std::size_t budget_bytes);
  Result<std::size_t> receive_some(Transport& transport, bool& short_read);
  Result<std::size_t> receive_to_buffer(Transport& transport, bool& short_read);
  void make_room();
  Status handle_buffer(FrameSink& sink);
  /// One frame at `begin`; false when it is not there whole.
  Result<bool> handle_frame(FrameSink& sink);
  Status check_sequence(const FrameHeader& header, bool& duplicate) const;
  Status begin_bulk(const FrameHeader& header, bool duplicate, FrameSink& sink);
  void fill_bulk_from_buffer();
  Status finish_bulk(FrameSink& sink);
  static Status handle_control(const FrameHeader& header, const std::byte* payload, FrameSink& sink);
};

FrameReceiver::FrameReceiver() : impl_(std::make_unique<Impl>()) {}
FrameReceiver::~FrameReceiver() = default;

const std::atomic<std::uint64_t>& FrameReceiver::received_sequence() const noexcept { return impl_->received; }

void FrameReceiver::on_resumed() {
  impl_->begin = impl_->end = 0;
  impl_->in_bulk = false;
  impl_->after_bulk = false;
  impl_->bulk_left = {};
  impl_->discard_left = 0;
}

Result<std::size_t> FrameReceiver::poll(Transport& transport, FrameSink& sink, std::size_t budget_bytes) {
  return impl_->poll(transport, sink, budget_bytes);
}

Result<std::size_t> FrameReceiver::Impl::poll(Transport& transport, FrameSink& sink, std::size_t budget_bytes) {
  std::size_t total = 0;
  bool drained = false;
  while (!drained && total < std::max<std::size_t>(budget_bytes, 1)) {
    auto received_now = receive_some(transport, drained);
    if (!received_now) {
      return received_now;
    }
    if (*received_now == 0) {
      break;
    }
    trace(TracePoint::kReceived);
    total += *received_now;
    if (auto status = handle_buffer(sink); !status) {
      return pass_on(std::move(status));
    }
  }
  return total;
}

/// One receive to where the next byte belongs. `short_read`: the transport had less than was asked for.
Result<std::size_t> FrameReceiver::Impl::receive_some(Transport& transport, bool& short_read) {
  if (!in_bulk || discard_left != 0) {
    return receive_to_buffer(transport, short_read);
  }
  auto got = transport.receive(bulk_left);
  if (got) {
    short_read = *got < bulk_left.size();
    bulk_left = bulk_left.subspan(*got);
  }
  return got;
}

Result<std::size_t> FrameReceiver::Impl::receive_to_buffer(Transport& transport, bool& short_read) {
  make_room();
  std::size_t room = capacity - end;
  if (after_bulk && !in_bulk && end - begin < kBulkHeadBytes) {
    room = std::min(room, kBulkHeadBytes - (end - begin));
  }
  auto got = transport.receive(MutableBytes(buffer.get() + end, room));
  if (got) {
    short_read = *got < room;
    end += *got;
  }
  return got;
}

void FrameReceiver::Impl::make_room() {
  if (begin == end) {
    begin = end = 0;
    if (capacity > kBufferBytes) { // grown for one large frame
      buffer = std::make_unique_for_overwrite<std::byte[]>(kBufferBytes);
      capacity = kBufferBytes;
    }
    return;
  }
  std::size_t wanted = kFrameHeaderBytes; // of the frame at `begin`, as far as it is known; its length has been checked
  if (end - begin >= kFrameHeaderBytes) {
    std::uint32_t payload_bytes = 0;
    std::memcpy(&payload_bytes, buffer.get() + begin, 4);
    wanted += payload_bytes;
  }
  if (begin != 0 && (begin + wanted > capacity || end == capacity)) {
    std::memmove(buffer.get(), buffer.get() + begin, end - begin);
    end -= begin;
    begin = 0;
  }
  if (end == capacity) { // full of one frame: twice as much, so memory follows what has really arrived
    const std::size_t larger = std::min(capacity * 2, std::max(capacity + 1, wanted));
    auto grown = std::make_unique_for_overwrite<std::byte[]>(larger);
    std::memcpy(grown.get(), buffer.get(), end);
    buffer = std::move(grown);
    capacity = larger;
  }
}

Status FrameReceiver::Impl::handle_buffer(FrameSink& sink) {
  for (;;) {
    if (in_bulk) {
      fill_bulk_from_buffer();
      if (!bulk_left.empty() || discard_left != 0) {
        return {};
      }
      if (auto status = finish_bulk(sink); !status) {
        return status;
      }
    }
    auto handled = handle_frame(sink);
    if (!handled) {
      return pass_on(std::move(handled));
    }
    if (!*handled) {
      return {};
    }
  }
}

Result<bool> FrameReceiver::Impl::handle_frame(FrameSink& sink) {
  const std::size_t available = end - begin;
  if (available < kFrameHeaderBytes) {
    return false;
  }
  const std::byte* at = buffer.get() + begin;
  auto header = protocol::load_frame_header(std::span<const std::byte, kFrameHeaderBytes>(at, kFrameHeaderBytes));
  if (!header) {
    return pass_on(std::move(header));
  }
  const bool is_bulk = header->opcode == protocol::kOpcodeBulk;
  const std::size_t needed = kFrameHeaderBytes + (is_bulk ? kBulkHeaderBytes : header->payload_bytes);
  if (!is_bulk) {
    after_bulk = false;
  }
  if (available < needed) {
    return false;
  }
  bool duplicate = false;
  if (auto status = check_sequence(*header, duplicate); !status) {
    return pass_on(std::move(status));
  }
  if (header->acknowledged > acknowledged) {
    if (auto status = sink.on_acknowledged(header->acknowledged); !status) {
      return pass_on(std::move(status));
    }
    acknowledged = header->acknowledged;
  }
  begin += needed;
  Status status;
  if (is_bulk) {
    bulk = protocol::load_bulk_header(at + kFrameHeaderBytes);
    status = begin_bulk(*header, duplicate, sink);
  } else if (protocol::is_control(header->opcode)) {
    status = handle_control(*header, at + kFrameHeaderBytes, sink);
  } else if (!duplicate) {
    // Counted before it is handled, so that what the handler sends acknowledges it.
    received.store(header->sequence, std::memory_order_release);
    status = sink.on_message(header->opcode, ConstBytes(at + kFrameHeaderBytes, header->payload_bytes));
  }
  if (!status) {
    return pass_on(std::move(status));
  }
  return true;
}

Status FrameReceiver::Impl::check_sequence(const FrameHeader& header, bool& duplicate) const {
  if (protocol::is_control(header.opcode)) {
    return {};
  }
  const std::uint64_t last = received.load(std::memory_order_relaxed);
  duplicate = header.sequence <= last;
  if (header.sequence > last + 1) {
    return fail(ErrorCode::kInvalid, "frame " + std::to_string(header.sequence) + " came behind frame " + std::to_string(last));
  }
  return {};
}

Status FrameReceiver::Impl::handle_control(const FrameHeader& header, const std::byte* payload, FrameSink& sink) {
  if (header.opcode == protocol::kOpcodeAcknowledge) {
    return {};
  }
  std::uint64_t token = 0;
  std::memcpy(&token, payload, sizeof token);
  if (header.opcode == protocol::kOpcodePing) {
    sink.on_ping(token);
  } else {
    sink.on_pong(token);
  }
  return {};
}

Status FrameReceiver::Impl::begin_bulk(const FrameHeader& header, bool duplicate, FrameSink& sink) {
  bulk_size = header.payload_bytes - kBulkHeaderBytes;
  bulk_sequence = header.sequence;
  if (duplicate) {
    discard_left = bulk_size;
    bulk_left = {};
  } else {
    auto destination = sink.bulk_destination(bulk, bulk_size);
    if (!destination) {
      return pass_on(std::move(destination));
    }
    FARCL_ASSERT(destination->size() == bulk_size);
    bulk_left = *destination;
    discard_left = 0;
  }
  in_bulk = true;
  return {};
}

void FrameReceiver::Impl::fill_bulk_from_buffer() {
  const std::size_t available = end - begin;
  if (discard_left != 0) {
    const std::size_t step = std::min(available, discard_left);
    begin += step;
    discard_left -= step;
  } else if (!bulk_left.empty() && available != 0) {
    const std::size_t step = std::min(available, bulk_left.size());
    std::memcpy(bulk_left.data(), buffer.get() + begin, step);
    bulk_left = bulk_left.subspan(step);
    begin += step;
  }
}

Status FrameReceiver::Impl::finish_bulk(FrameSink& sink) {
  in_bulk = false;
  after_bulk = true;
  if (bulk_sequence <= received.load(std::memory_order_relaxed)) {
    return {}; // it was discarded
  }
  received.store(bulk_sequence, std::memory_order_release);
  return sink.on_bulk(bulk, bulk_size);
}

} // namespace farcl::net
