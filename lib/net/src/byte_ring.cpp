#include "byte_ring.hpp"

#include <algorithm>
#include <cstring>

namespace farcl::net {

namespace {
static_assert((kRingBytes & (kRingBytes - 1)) == 0);

tl::unexpected<Error> nonsense() { return fail(ErrorCode::kInvalid, "the other end has broken the ring in shared memory"); }

/// Calls `copy(place in the ring, at, size)` for the one or two runs that [position, position + size) is made of.
template <class Copy>
void for_each_run(std::uint64_t position, std::size_t size, Copy&& copy) {
  const auto place = static_cast<std::size_t>(position) & (kRingBytes - 1);
  const std::size_t first = std::min(size, kRingBytes - place);
  copy(place, std::size_t{0}, first);
  if (first != size) {
    copy(std::size_t{0}, first, size - first);
  }
}
} // namespace

Result<std::size_t> RingWriter::free_bytes() const {
  const std::uint64_t used = written_.load(std::memory_order_relaxed) - control_.read.load(std::memory_order_seq_cst);
  return used <= kRingBytes ? Result<std::size_t>(kRingBytes - static_cast<std::size_t>(used)) : nonsense();
}

Result<std::size_t> RingWriter::write(std::span<const ConstBytes> parts) {
  auto room = free_bytes();
  if (!room) {
    return room;
  }
  const std::uint64_t start = written_.load(std::memory_order_relaxed);
  std::uint64_t written = start;
  std::uint64_t published = start;
  for (const ConstBytes& part : parts) {
    for (std::size_t at = 0; at != part.size() && *room != 0;) {
      const std::size_t step = std::min({part.size() - at, *room, kRingStepBytes});
      for_each_run(written, step, [&](std::size_t place, std::size_t offset, std::size_t size) {
        std::memcpy(bytes_ + place, part.data() + at + offset, size);
      });
      written += step;
      at += step;
      *room -= step;
      if (written - published >= kRingStepBytes) {
        control_.written.store(written, std::memory_order_release);
        published = written;
      }
    }
  }
  if (written != start) {
    written_.store(written, std::memory_order_relaxed);
    control_.written.store(written, std::memory_order_seq_cst);
  }
  return static_cast<std::size_t>(written - start);
}

Result<std::size_t> RingReader::available_bytes() const {
  const std::uint64_t there = control_.written.load(std::memory_order_seq_cst) - read_.load(std::memory_order_relaxed);
  return there <= kRingBytes ? Result<std::size_t>(static_cast<std::size_t>(there)) : nonsense();
}

Result<std::size_t> RingReader::read(MutableBytes into) {
  auto there = available_bytes();
  if (!there) {
    return there;
  }
  const std::size_t wanted = std::min(*there, into.size());
  std::uint64_t read = read_.load(std::memory_order_relaxed);
  for (std::size_t at = 0; at != wanted;) {
    const std::size_t step = std::min(wanted - at, kRingStepBytes);
    for_each_run(read, step, [&](std::size_t place, std::size_t offset, std::size_t size) {
      std::memcpy(into.data() + at + offset, bytes_ + place, size);
    });
    read += step;
    at += step;
    read_.store(read, std::memory_order_relaxed);
    control_.read.store(read, at == wanted ? std::memory_order_seq_cst : std::memory_order_release);
  }
  return wanted;
}

} // namespace farcl::net
