// Names for views of raw memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace farcl {

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;
using ByteVector = std::vector<std::byte>;

} // namespace farcl
