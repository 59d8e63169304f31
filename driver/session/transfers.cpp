#include "driver/session/transfers.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace farcl::driver {

bool HostBox::is_linear() const noexcept {
  const bool rows_touch = height <= 1 || row_pitch == width_bytes;
  const bool slices_touch = depth <= 1 || slice_pitch == width_bytes * height;
  return rows_touch && slices_touch;
}

bool HostBox::overlaps(const HostBox& other) const noexcept {
  const auto end_of = [](const HostBox& box) {
    return box.base + (box.depth - 1) * box.slice_pitch + (box.height - 1) * box.row_pitch + box.width_bytes;
  };
  return base < end_of(other) && other.base < end_of(*this);
}

namespace {
/// Calls `copy(host byte, size)` for each run of host memory that [offset, offset + size) of the gapless box stands for.
template <class Copy>
void for_each_run(const HostBox& box, std::uint64_t offset, std::uint64_t size, Copy&& copy) {
  while (size != 0) {
    const std::uint64_t row = offset / box.width_bytes;
    const std::uint64_t in_row = offset % box.width_bytes;
    const std::uint64_t run = std::min(size, box.width_bytes - in_row);
    copy(box.base + row / box.height * box.slice_pitch + row % box.height * box.row_pitch + in_row, run);
    offset += run;
    size -= run;
  }
}
} // namespace

void HostBox::scatter(std::uint64_t offset, ConstBytes bytes) const {
  if (bytes.empty()) {
    return;
  }
  if (is_linear()) {
    std::memcpy(base + offset, bytes.data(), bytes.size());
    return;
  }
  const std::byte* from = bytes.data();
  for_each_run(*this, offset, bytes.size(), [&](std::byte* host, std::uint64_t size) {
    std::memcpy(host, from, size);
    from += size;
  });
}

void HostBox::gather(MutableBytes into) const {
  std::byte* to = into.data();
  for_each_run(*this, 0, into.size(), [&](const std::byte* host, std::uint64_t size) {
    std::memcpy(to, host, size);
    to += size;
  });
}

Status IncomingRead::check(std::uint64_t offset, std::size_t size) const {
  const std::uint64_t all = box_.size_bytes();
  if (offset > all || size > all - offset || received_.overlaps(offset, size)) {
    return fail(ErrorCode::kInvalid, "bulk data that its transfer has already, or that lies beyond its end");
  }
  return {};
}

Result<MutableBytes> IncomingRead::destination(std::uint64_t offset, std::size_t size) {
  if (auto checked = check(offset, size); !checked) {
    return pass_on(std::move(checked));
  }
  pending_offset_ = offset;
  pending_size_ = size;
  if (box_.is_linear()) {
    return MutableBytes(box_.base + offset, size);
  }
  chunk_.resize(size); // at most one frame's payload
  return MutableBytes(chunk_);
}

Status IncomingRead::arrived() {
  if (!box_.is_linear()) {
    box_.scatter(pending_offset_, ConstBytes(chunk_).first(pending_size_));
  }
  if (!received_.add(pending_offset_, std::exchange(pending_size_, 0))) {
    return fail(ErrorCode::kInvalid, "bulk data in too many pieces");
  }
  return {};
}

Status IncomingRead::take(std::uint64_t offset, ConstBytes bytes) {
  if (auto checked = check(offset, bytes.size()); !checked) {
    return checked;
  }
  const bool in_both = offset < pending_offset_ + pending_size_ && pending_offset_ < offset + bytes.size();
  if (in_both || !received_.add(offset, bytes.size())) {
    return fail(ErrorCode::kInvalid, "bulk data in pieces that overlap or are too many");
  }
  box_.scatter(offset, bytes);
  return {};
}

bool IncomingRead::complete(ConstBytes inline_data) {
  if (received_.bytes() == 0 && inline_data.size() == box_.size_bytes()) {
    box_.scatter(0, inline_data);
    return true;
  }
  return missing_bytes() == 0;
}

void OutgoingBulk::add(protocol::TransferId transfer, ConstBytes data, std::shared_ptr<const void> keep_alive,
                       std::vector<protocol::TransferId> after) {
  transfers_.push_back({transfer, data, 0, std::move(keep_alive), std::move(after)});
}

void OutgoingBulk::read_ended(protocol::TransferId read) {
  for (Transfer& one : transfers_) {
    std::erase(one.after, read);
  }
}

bool OutgoingBulk::pump(net::FrameSender& sender, net::BulkWindow& window, const net::Transport& transport, std::uint64_t retained_limit) {
  bool appended = false;
  auto ready = transfers_.begin();
  while (sender.unsent_bytes() < kUnsentBulkBytes && sender.retained_bytes() < retained_limit) {
    ready = std::find_if(ready, transfers_.end(), [](const Transfer& one) { return one.after.empty(); });
    if (ready == transfers_.end()) {
      window.ran_dry();
      break;
    }
    if (!window.is_open(transport, sender.unsent_bytes())) {
      break;
    }
    const Chunk chunk = next_chunk(ready, window.chunk_bytes());
    sender.append_bulk(ready->id, chunk.offset, chunk.bytes, ready->keep_alive);
    window.appended(chunk.bytes.size());
    appended = true;
    ready = took(chunk);
  }
  return appended;
}

OutgoingBulk::Chunk OutgoingBulk::next_chunk(Transfers::iterator transfer, std::size_t at_most_bytes) {
  const std::uint64_t left = transfer->data.size() - transfer->appended;
  return {transfer, transfer->appended, transfer->data.subspan(transfer->appended, std::min<std::uint64_t>(at_most_bytes, left))};
}

OutgoingBulk::Transfers::iterator OutgoingBulk::took(const Chunk& chunk) {
  chunk.transfer->appended += chunk.bytes.size();
  return chunk.transfer->appended == chunk.transfer->data.size() ? transfers_.erase(chunk.transfer) : chunk.transfer;
}

std::uint64_t OutgoingBulk::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Transfer& one : transfers_) {
    sum += one.data.size() - one.appended;
  }
  return sum;
}

bool OutgoingBulk::has_ready() const noexcept {
  return std::any_of(transfers_.begin(), transfers_.end(), [](const Transfer& one) { return one.after.empty(); });
}

net::BulkChunk OutgoingBulk::take_copy(std::size_t at_most_bytes) {
  const auto ready = std::find_if(transfers_.begin(), transfers_.end(), [](const Transfer& one) { return one.after.empty(); });
  const Chunk chunk = next_chunk(ready, at_most_bytes);
  auto copy = std::make_shared<ByteVector>(chunk.bytes.begin(), chunk.bytes.end());
  net::BulkChunk out{{ready->id, chunk.offset}, ConstBytes(*copy), copy};
  (void)took(chunk);
  return out;
}

bool OutgoingBulk::is_waiting(protocol::TransferId transfer) const noexcept {
  return std::any_of(transfers_.begin(), transfers_.end(), [&](const Transfer& one) { return one.id == transfer; });
}

} // namespace farcl::driver
