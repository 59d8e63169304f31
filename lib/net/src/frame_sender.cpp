#include "farcl/net/link.hpp"

#include "farcl/base/trace.hpp"
#include "frame_log.hpp"

#include <algorithm>
#include <array>

namespace farcl::net {

using protocol::FrameHeader;

struct FrameSender::Impl {
  explicit Impl(const std::atomic<std::uint64_t>& received) : received_sequence(received) {}

  const std::atomic<std::uint64_t>& received_sequence;
  FrameLog log;
  std::uint64_t last_sequence = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t appended_acknowledgement = 0; ///< in the newest header since the last resume
  bool has_control = false;                   ///< control frames may lie at the front of the log

  FrameHeader next_header(protocol::Opcode opcode, std::size_t payload_bytes) {
    FrameHeader header;
    header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
    header.opcode = opcode;
    header.sequence = protocol::is_control(opcode) ? 0 : last_sequence + 1;
    header.acknowledged = appended_acknowledgement = received_sequence.load(std::memory_order_acquire);
    return header;
  }
  void append_control(protocol::Opcode opcode, ConstBytes payload) {
    ByteVector& block = log.begin_frame();
    block.insert(block.end(), payload.begin(), payload.end());
    log.end_frame(next_header(opcode, payload.size()));
    has_control = true;
  }
};

FrameSender::FrameSender(const std::atomic<std::uint64_t>& received_sequence) : impl_(std::make_unique<Impl>(received_sequence)) {}
FrameSender::~FrameSender() = default;

ByteVector& FrameSender::begin_frame() { return impl_->log.begin_frame(); }

std::uint64_t FrameSender::end_frame(protocol::Opcode opcode) {
  const std::size_t payload_bytes = impl_->log.encoded_payload_bytes();
  if (payload_bytes > protocol::kMaxFramePayloadBytes) {
    impl_->log.abandon_frame();
    return 0;
  }
  impl_->log.end_frame(impl_->next_header(opcode, payload_bytes));
  return ++impl_->last_sequence;
}

std::uint64_t FrameSender::append_bulk(protocol::TransferId transfer, std::uint64_t offset, ConstBytes data,
                                       std::shared_ptr<const void> keep_alive) {
  while (!data.empty()) {
    const ConstBytes chunk = data.first(std::min<std::size_t>(data.size(), protocol::kBulkChunkBytes));
    ByteVector& block = impl_->log.begin_frame();
    block.resize(block.size() + protocol::kBulkHeaderBytes);
    protocol::store(protocol::BulkHeader{transfer, offset}, block.data() + block.size() - protocol::kBulkHeaderBytes);
    impl_->log.end_bulk_frame(impl_->next_header(protocol::kOpcodeBulk, protocol::kBulkHeaderBytes + chunk.size()), chunk, keep_alive);
    ++impl_->last_sequence;
    data = data.subspan(chunk.size());
    offset += chunk.size();
  }
  return impl_->last_sequence;
}

void FrameSender::replace_bulk(const void* owner, const BulkCopier& copy) { impl_->log.replace_bulk(owner, copy); }

void FrameSender::append_ping(std::uint64_t token) { impl_->append_control(protocol::kOpcodePing, std::as_bytes(std::span(&token, 1))); }
void FrameSender::append_pong(std::uint64_t token) { impl_->append_control(protocol::kOpcodePong, std::as_bytes(std::span(&token, 1))); }

void FrameSender::append_acknowledgement() {
  if (impl_->received_sequence.load(std::memory_order_acquire) > impl_->appended_acknowledgement) {
    impl_->append_control(protocol::kOpcodeAcknowledge, {});
  }
}

Result<bool> FrameSender::flush(Transport& transport) {
  FrameLog& log = impl_->log;
  while (log.unsent_bytes() != 0) {
    std::array<ConstBytes, Transport::kMaxSendParts> parts;
    const std::size_t count = log.gather(parts);
    trace(TracePoint::kSending);
    auto sent = transport.send(std::span(parts.data(), count));
    trace(TracePoint::kSent);
    if (!sent) {
      return pass_on(std::move(sent));
    }
    if (*sent == 0) {
      return false;
    }
    log.mark_sent(*sent);
  }
  if (impl_->has_control) {
    impl_->has_control = false;
    (void)log.release_through(impl_->acknowledged);
  }
  return true;
}

Status FrameSender::on_acknowledged(std::uint64_t sequence) {
  if (sequence <= impl_->acknowledged) {
    return {};
  }
  if (sequence > impl_->last_sequence || !impl_->log.release_through(sequence)) {
    return fail(ErrorCode::kInvalid, "the other side acknowledges frame " + std::to_string(sequence) + ", which was not sent");
  }
  impl_->acknowledged = sequence;
  return {};
}

Status FrameSender::on_resumed(std::uint64_t peer_received) {
  if (peer_received < impl_->acknowledged) {
    return fail(ErrorCode::kInvalid, "the other side has forgotten frames that it acknowledged (" + std::to_string(peer_received) + " of " +
                                         std::to_string(impl_->acknowledged) + ")");
  }
  if (auto status = on_acknowledged(peer_received); !status) {
    return status;
  }
  impl_->log.rewind();
  impl_->has_control = false;
  impl_->appended_acknowledgement = 0;
  return {};
}

std::uint64_t FrameSender::last_sequence() const noexcept { return impl_->last_sequence; }
std::uint64_t FrameSender::acknowledged_sequence() const noexcept { return impl_->acknowledged; }
std::size_t FrameSender::unsent_bytes() const noexcept { return impl_->log.unsent_bytes(); }
std::size_t FrameSender::retained_bytes() const noexcept { return impl_->log.retained_bytes(); }
std::uint64_t FrameSender::sent_acknowledgement() const noexcept { return impl_->log.sent_acknowledgement(); }

} // namespace farcl::net
