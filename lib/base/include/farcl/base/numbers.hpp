// Numbers as people write them on command lines and in files.
#pragma once

#include "farcl/base/result.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>

namespace farcl {

/// The whole text is a number that fits; false otherwise.
template <class Number>
bool parse_number(std::string_view text, Number& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

/// "65536", "512M", "4G".
[[nodiscard]] Result<std::uint64_t> parse_bytes(std::string_view text);

} // namespace farcl
