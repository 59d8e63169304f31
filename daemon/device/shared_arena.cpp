#include "daemon/device/shared_arena.hpp"

#include "farcl/protocol/limits.hpp"

#include <algorithm>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>

namespace farcl::daemon {

namespace {
constexpr std::uint64_t kPageBytes = 4096;
/// What is mapped, however much the session may have: address space is not endless.
constexpr std::uint64_t kMostArenaBytes = std::uint64_t{1} << 42;

/// Blocks from this size on begin at a multiple of it, for systems that give large pages to shared memory that asks for them.
constexpr std::uint64_t kLargeBlockBytes = 2u << 20;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }
std::uint64_t whole_pages(std::uint64_t size_bytes) { return round_up(size_bytes, kPageBytes); }
} // namespace

class SharedArena::Block final : public Memory {
public:
  Block(std::shared_ptr<SharedArena> arena, std::uint64_t offset, std::uint64_t size_bytes)
      : arena_(std::move(arena)), offset_(offset), size_bytes_(size_bytes) {}
  ~Block() override { arena_->free(offset_, whole_pages(size_bytes_)); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] std::byte* host_pointer() const noexcept override { return arena_->region_.data() + offset_; }

private:
  std::shared_ptr<SharedArena> arena_;
  std::uint64_t offset_;
  std::uint64_t size_bytes_;
};

Result<std::shared_ptr<SharedArena>> SharedArena::create(std::uint64_t size_bytes) {
  auto region = SharedRegion::create("farcl-buffers", whole_pages(std::min(size_bytes, kMostArenaBytes)));
  if (!region) {
    return pass_on(std::move(region));
  }
  return std::make_shared<SharedArena>(std::move(*region));
}

SharedArena::SharedArena(SharedRegion region) : region_(std::move(region)) {
  (void)::madvise(region_.data(), static_cast<std::size_t>(region_.size_bytes()), MADV_HUGEPAGE); // only a hint
  free_.emplace(0, region_.size_bytes());
}

MemoryPtr SharedArena::allocate(std::uint64_t size_bytes) {
  if (size_bytes < protocol::kSharedBufferBytes || size_bytes > region_.size_bytes()) {
    return nullptr;
  }
  const std::uint64_t taken = whole_pages(size_bytes);
  const auto place_in = [&](const auto& range) { return round_up(range.first, taken >= kLargeBlockBytes ? kLargeBlockBytes : kPageBytes); };
  const auto found =
      std::find_if(free_.begin(), free_.end(), [&](const auto& range) { return place_in(range) + taken <= range.first + range.second; });
  if (found == free_.end()) {
    return nullptr;
  }
  const std::uint64_t offset = place_in(*found);
  const std::uint64_t end = found->first + found->second;
  found->second = offset - found->first;
  if (found->second == 0) {
    free_.erase(found);
  }
  if (end != offset + taken) {
    free_.emplace(offset + taken, end - offset - taken);
  }
  return std::make_shared<Block>(shared_from_this(), offset, size_bytes);
}

std::optional<std::uint64_t> SharedArena::offset_of(const Memory& memory) const noexcept {
  const std::byte* at = memory.host_pointer();
  if (at < region_.data() || at >= region_.data() + region_.size_bytes()) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(at - region_.data());
}

void SharedArena::free(std::uint64_t offset, std::uint64_t size_bytes) noexcept try {
  ::fallocate(region_.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(size_bytes));
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + size_bytes) {
    size_bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += size_bytes;
      return;
    }
  }
  free_.emplace_hint(next, offset, size_bytes);
} catch (const std::bad_alloc&) { // these addresses are not used again
}

} // namespace farcl::daemon
