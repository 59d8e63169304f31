#include "driver/info/name_version.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace farcl::driver {
namespace {

/// Calls `function` for each non-empty part between separators.
template <class Function>
void for_each_part(std::string_view text, char separator, Function&& function) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    if (!part.empty()) {
      function(part);
    }
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
}

/// "1.2" or "1.2.3" at the start of the text.
std::optional<cl_version> parse_version(std::string_view text) {
  unsigned parts[3] = {0, 0, 0};
  int count = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (count < 3) {
    const auto [next, error] = std::from_chars(at, end, parts[count]);
    if (error != std::errc{}) {
      break;
    }
    ++count;
    at = next;
    if (at == end || *at != '.') {
      break;
    }
    ++at;
  }
  if (count < 2 || parts[0] > CL_VERSION_MAJOR_MASK || parts[1] > CL_VERSION_MINOR_MASK || parts[2] > CL_VERSION_PATCH_MASK) {
    return std::nullopt;
  }
  return CL_MAKE_VERSION(parts[0], parts[1], parts[2]);
}

} // namespace

cl_name_version make_name_version(std::string_view name, cl_version version) {
  cl_name_version result{};
  result.version = version;
  std::memcpy(result.name, name.data(), std::min<std::size_t>(name.size(), CL_NAME_VERSION_MAX_NAME_SIZE - 1));
  return result;
}

std::vector<cl_name_version> parse_name_versions(std::string_view text) {
  std::vector<cl_name_version> list;
  for_each_part(text, ';', [&](std::string_view part) {
    const std::size_t colon = part.rfind(':');
    if (colon == std::string_view::npos || colon == 0) {
      return;
    }
    if (const auto version = parse_version(part.substr(colon + 1))) {
      list.push_back(make_name_version(part.substr(0, colon), *version));
    }
  });
  return list;
}

std::vector<cl_name_version> name_versions_of_extensions(std::string_view extensions) {
  std::vector<cl_name_version> list;
  for_each_part(extensions, ' ', [&](std::string_view name) { list.push_back(make_name_version(name, CL_MAKE_VERSION(1, 0, 0))); });
  return list;
}

cl_version version_in(std::string_view text) {
  const std::size_t digit = text.find_first_of("0123456789");
  return digit == std::string_view::npos ? 0 : parse_version(text.substr(digit)).value_or(0);
}

} // namespace farcl::driver
