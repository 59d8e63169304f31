// A ring of bytes in memory that two processes share: one writes, one reads.
//
// Each end keeps its own position to itself and publishes it; what the other end publishes is checked on each use, because the other
// end may write anything there at any time. Bytes are copied out once, and whoever reads them looks at the copy only.
//
// Sleeping: who finds nothing to do sets its flag, looks once more and sleeps; who has done something looks at the other's flag
// afterwards. Both sides of each pair are sequentially consistent, so at least one of them sees the other, and no wake-up is lost.
#pragma once

#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"

#include <atomic>
#include <cstdint>
#include <span>

namespace farcl::net {

/// In shared memory, zeros at first. Each word has a cache line of its own.
struct RingControl {
  alignas(64) std::atomic<std::uint64_t> written{0}; ///< bytes, ever; the writer's
  alignas(64) std::atomic<std::uint64_t> read{0};    ///< bytes, ever; the reader's
  alignas(64) std::atomic<std::uint32_t> reader_sleeps{0};
  alignas(64) std::atomic<std::uint32_t> writer_sleeps{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "the rings are shared between processes");

// Each end has one thread that writes or reads; another may ask free_bytes or available_bytes at the same time, and may then get an
// answer that is out of date (kInvalid included).

/// The bytes of one ring; a power of two.
inline constexpr std::size_t kRingBytes = 512u << 10;
/// Large copies are published in steps of this size, so that the other end works on one part while this one copies the next.
inline constexpr std::size_t kRingStepBytes = 64u << 10;

class RingWriter {
public:
  RingWriter(RingControl& control, std::byte* bytes) : control_(control), bytes_(bytes) {}

  /// Copies as much of `parts` as there is room for. Fails with kInvalid when the reader's position makes no sense.
  [[nodiscard]] Result<std::size_t> write(std::span<const ConstBytes> parts);
  [[nodiscard]] Result<std::size_t> free_bytes() const;

  /// After a write: true, once, when the reader has said that it sleeps.
  [[nodiscard]] bool take_reader_asleep() noexcept {
    return control_.reader_sleeps.load(std::memory_order_seq_cst) != 0 && control_.reader_sleeps.exchange(0) != 0;
  }
  void set_asleep(bool asleep) noexcept { control_.writer_sleeps.store(asleep ? 1 : 0, std::memory_order_seq_cst); }

private:
  RingControl& control_;
  std::byte* const bytes_;
  std::atomic<std::uint64_t> written_{0};
};

class RingReader {
public:
  RingReader(RingControl& control, const std::byte* bytes) : control_(control), bytes_(bytes) {}

  /// Copies what is there. Fails with kInvalid when the writer's position makes no sense.
  [[nodiscard]] Result<std::size_t> read(MutableBytes into);
  [[nodiscard]] Result<std::size_t> available_bytes() const;

  /// After a read: true, once, when the writer has said that it sleeps and there is room enough to be worth waking it.
  [[nodiscard]] bool take_writer_asleep() noexcept {
    return control_.writer_sleeps.load(std::memory_order_seq_cst) != 0 && has_much_room() && control_.writer_sleeps.exchange(0) != 0;
  }
  void set_asleep(bool asleep) noexcept { control_.reader_sleeps.store(asleep ? 1 : 0, std::memory_order_seq_cst); }

private:
  [[nodiscard]] bool has_much_room() const noexcept {
    return control_.written.load(std::memory_order_seq_cst) - read_.load(std::memory_order_relaxed) <=
           kRingBytes / 2; // nonsense is found by the next read
  }

  RingControl& control_;
  const std::byte* const bytes_;
  std::atomic<std::uint64_t> read_{0};
};

} // namespace farcl::net
