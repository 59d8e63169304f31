#include "driver/session/transfers.hpp"

#include <algorithm>
#include <cstring>

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

Result<MutableBytes> IncomingRead::destination(std::uint64_t offset, std::size_t size) {
  if (offset != received_ || size > box_.size_bytes() - received_) {
    return fail(ErrorCode::kInvalid, "bulk data that does not continue its transfer");
  }
  if (box_.is_linear()) {
    return MutableBytes(box_.base + offset, size);
  }
  chunk_.resize(size); // at most one frame's payload
  return MutableBytes(chunk_);
}

void IncomingRead::arrived(std::size_t size) {
  if (!box_.is_linear()) {
    box_.scatter(received_, ConstBytes(chunk_).first(size));
  }
  received_ += size;
}

bool IncomingRead::complete(ConstBytes inline_data) {
  if (received_ == 0 && inline_data.size() == box_.size_bytes()) {
    box_.scatter(0, inline_data);
    received_ = inline_data.size();
  }
  return received_ == box_.size_bytes();
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
    const ConstBytes chunk =
        ready->data.subspan(ready->appended, std::min<std::uint64_t>(window.chunk_bytes(), ready->data.size() - ready->appended));
    sender.append_bulk(ready->id, ready->appended, chunk, ready->keep_alive);
    window.appended(chunk.size());
    ready->appended += chunk.size();
    appended = true;
    if (ready->appended == ready->data.size()) {
      ready = transfers_.erase(ready);
    }
  }
  return appended;
}

bool OutgoingBulk::is_waiting(protocol::TransferId transfer) const noexcept {
  return std::any_of(transfers_.begin(), transfers_.end(), [&](const Transfer& one) { return one.id == transfer; });
}

} // namespace farcl::driver
