#include "farcl/base/numbers.hpp"

#include <string>

namespace farcl {

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t factor = 1;
  std::string_view digits = text;
  if (!text.empty()) {
    switch (text.back()) {
    case 'k':
    case 'K': factor = 1u << 10; break;
    case 'm':
    case 'M': factor = 1u << 20; break;
    case 'g':
    case 'G': factor = 1u << 30; break;
    case 't':
    case 'T': factor = 1ull << 40; break;
    default: break;
    }
    digits = text.substr(0, text.size() - (factor == 1 ? 0 : 1));
  }
  std::uint64_t value = 0;
  if (!parse_number(digits, value) || value > UINT64_MAX / factor) {
    return fail(ErrorCode::kInvalid, "'" + std::string(text) + "' is not a size like 65536, 512M or 4G");
  }
  return value * factor;
}

} // namespace farcl
