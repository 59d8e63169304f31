// Which names may reach a resolver or the command line of ssh. Everything else could be an option or mean something to a shell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace farcl::net {

inline constexpr std::size_t kMaxHostNameBytes = 255;
inline constexpr std::size_t kMaxUserNameBytes = 64;
inline constexpr std::size_t kMaxUnixPathBytes = 107; ///< sun_path has 108 with the zero

namespace detail {
constexpr bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}
constexpr bool is_name(std::string_view text, std::size_t max_bytes) {
  return !text.empty() && text.size() <= max_bytes && text.front() != '-' && std::all_of(text.begin(), text.end(), is_name_character);
}
} // namespace detail

constexpr bool is_safe_host_name(std::string_view text) { return detail::is_name(text, kMaxHostNameBytes) && text.front() != '.'; }
constexpr bool is_safe_user_name(std::string_view text) { return detail::is_name(text, kMaxUserNameBytes); }

/// The characters of an IPv6 address, perhaps with a zone ("fe80::1%eth0"); whether it is one, the resolver finds out.
constexpr bool is_safe_v6_text(std::string_view text) {
  const auto zone = text.find('%');
  const std::string_view digits = text.substr(0, zone);
  const bool digits_fine =
      digits.find(':') != std::string_view::npos && digits.size() < 46 &&
      std::all_of(
          digits.begin(), digits.end(),
          [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.'; });
  return digits_fine && (zone == std::string_view::npos || detail::is_name(text.substr(zone + 1), 15));
}

} // namespace farcl::net
