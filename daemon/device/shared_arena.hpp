// SharedArena: one session's memory that its client can reach too, on the same machine.
//
// One sealed memfd as large as the memory that the session may have, mapped whole by worker and client; only what is touched takes
// memory, and what a block leaves is given back at once, so that the next block there starts as zeros. The client may change any byte
// at any time: nothing but the contents of buffers lies here. It belongs to one session, so nobody else's data can be seen in it.
// Session thread only.
#pragma once

#include "daemon/device/device.hpp"
#include "farcl/base/shared_region.hpp"

#include <map>
#include <memory>
#include <optional>

namespace farcl::daemon {

class SharedArena final : public SharedMemorySource, public std::enable_shared_from_this<SharedArena> {
public:
  [[nodiscard]] static Result<std::shared_ptr<SharedArena>> create(std::uint64_t size_bytes);
  explicit SharedArena(SharedRegion region);

  /// Null when there is no room, or the block is too small to be worth a page of its own.
  [[nodiscard]] MemoryPtr allocate(std::uint64_t size_bytes) override;
  /// Where in the arena a block lies; nothing for memory from elsewhere.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(const Memory& memory) const noexcept;
  [[nodiscard]] int fd() const noexcept { return region_.fd(); }

private:
  class Block;
  void free(std::uint64_t offset, std::uint64_t size_bytes) noexcept;

  SharedRegion region_;
  std::map<std::uint64_t, std::uint64_t> free_; ///< offset to size; neighbours are one
};

} // namespace farcl::daemon
