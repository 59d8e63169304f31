// Ids that cannot be mixed up: StrongId<struct QueueTag> and StrongId<struct BufferTag> are different types.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace farcl {

template <class Tag>
struct StrongId {
  std::uint64_t value = 0; ///< 0 means "none"

  constexpr explicit operator bool() const noexcept { return value != 0; }
  friend constexpr auto operator<=>(StrongId, StrongId) noexcept = default;
};

} // namespace farcl

template <class Tag>
struct std::hash<farcl::StrongId<Tag>> {
  std::size_t operator()(farcl::StrongId<Tag> id) const noexcept { return std::hash<std::uint64_t>{}(id.value); }
};
