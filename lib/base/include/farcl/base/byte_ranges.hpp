// ByteRanges: which bytes of a transfer have come, in whatever order its pieces did.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace farcl {

/// Half-open ranges that neither overlap nor touch, in order. In order of arrival there is one.
class ByteRanges {
public:
  static constexpr std::size_t kMaxRanges = 4096; ///< a peer that leaves more gaps has no reason to

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  [[nodiscard]] bool overlaps(std::uint64_t offset, std::uint64_t size) const noexcept {
    const auto next = first_ending_behind(offset);
    return size != 0 && next != ranges_.end() && next->begin < offset + size;
  }

  /// Adds [offset, offset + size), which must not wrap around. False, and nothing is changed, when a byte of it is there
  /// already or there would be too many gaps.
  [[nodiscard]] bool add(std::uint64_t offset, std::uint64_t size) {
    if (size == 0 || overlaps(offset, size)) {
      return size == 0;
    }
    auto next = first_ending_behind(offset);
    const bool touches_next = next != ranges_.end() && next->begin == offset + size;
    const bool touches_previous = next != ranges_.begin() && std::prev(next)->end == offset;
    if (!touches_next && !touches_previous && ranges_.size() == kMaxRanges) {
      return false;
    }
    if (touches_previous) {
      std::prev(next)->end = touches_next ? next->end : offset + size;
      if (touches_next) {
        ranges_.erase(next);
      }
    } else if (touches_next) {
      next->begin = offset;
    } else {
      ranges_.insert(next, {offset, offset + size});
    }
    bytes_ += size;
    return true;
  }

private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  [[nodiscard]] std::vector<Range>::const_iterator first_ending_behind(std::uint64_t offset) const noexcept {
    return std::upper_bound(ranges_.begin(), ranges_.end(), offset, [](std::uint64_t at, const Range& range) { return at < range.end; });
  }
  [[nodiscard]] std::vector<Range>::iterator first_ending_behind(std::uint64_t offset) noexcept {
    return std::upper_bound(ranges_.begin(), ranges_.end(), offset, [](std::uint64_t at, const Range& range) { return at < range.end; });
  }

  std::vector<Range> ranges_;
  std::uint64_t bytes_ = 0;
};

} // namespace farcl
