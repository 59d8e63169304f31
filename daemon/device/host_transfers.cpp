#include "daemon/device/host_transfers.hpp"

#include "daemon/device/rect_walk.hpp"

#include <cstring>

namespace farcl::daemon {

namespace {
std::byte* address(const MemoryPlace& place) { return place.memory->host_pointer() + place.offset; }
/// A fill doubles what it has written up to this much, then repeats that: long enough for memcpy, short enough for the cache.
constexpr std::uint64_t kFillBlockBytes = 16u << 10;
} // namespace

std::uint64_t moved_bytes(const Copy& copy) { return copy.source_rect.width_bytes * copy.source_rect.height * copy.source_rect.depth; }

void perform(const Copy& copy) {
  const std::byte* from = address(copy.source);
  std::byte* to = address(copy.destination);
  const std::uint64_t size = moved_bytes(copy);
  if (is_contiguous(copy.source_rect) && is_contiguous(copy.destination_rect)) {
    // memmove: copies within one buffer that overlap are the program's error, but must not do worse than unspecified bytes.
    std::memmove(to + copy.destination_rect.offset, from + copy.source_rect.offset, size);
    return;
  }
  const auto& s = copy.source_rect;
  const auto& d = copy.destination_rect;
  for (std::uint64_t z = 0; z < s.depth; ++z) {
    for (std::uint64_t y = 0; y < s.height; ++y) {
      std::memmove(to + d.offset + z * d.slice_pitch + y * d.row_pitch, from + s.offset + z * s.slice_pitch + y * s.row_pitch,
                   s.width_bytes);
    }
  }
}

void perform(const Fill& fill) {
  std::byte* to = address(fill.destination);
  const std::uint64_t size = fill.size_bytes;
  if (fill.pattern.size() == 1) {
    std::memset(to, static_cast<int>(fill.pattern[0]), size);
    return;
  }
  std::uint64_t done = std::min<std::uint64_t>(fill.pattern.size(), size);
  std::memcpy(to, fill.pattern.data(), done);
  while (done < size) {
    const std::uint64_t block = std::min(done, kFillBlockBytes / fill.pattern.size() * fill.pattern.size());
    const std::uint64_t count = std::min(block, size - done);
    std::memcpy(to + done, to, count);
    done += count;
  }
}

void perform(const Read& read) {
  const std::byte* from = address(read.source);
  for_each_run(read.rect, read.skip_bytes, read.into.size(), [&](std::uint64_t buffer_at, std::uint64_t box_at, std::uint64_t count) {
    std::memcpy(read.into.data() + (box_at - read.skip_bytes), from + buffer_at, count);
  });
}

void perform(const Write& write) {
  std::byte* to = address(write.destination);
  for_each_run(write.rect, 0, write.from.size(), [&](std::uint64_t buffer_at, std::uint64_t box_at, std::uint64_t count) {
    std::memcpy(to + buffer_at, write.from.data() + box_at, count);
  });
}

} // namespace farcl::daemon
