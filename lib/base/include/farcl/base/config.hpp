// The options of config.def as a struct, read from the environment once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farcl {

struct Config {
#define FARCL_STRING_OPTION(identifier, name, default_value, doc) std::string identifier = default_value;
#define FARCL_INTEGER_OPTION(identifier, name, default_value, minimum, maximum, doc) std::int64_t identifier = default_value;
#include "farcl/base/config.def"

  /// Sentences about values that were not understood and were replaced by their default.
  std::vector<std::string> complaints;
};

/// Reads every option through `lookup` (a test's own, or the default: secure_getenv). Values are hostile until checked:
/// an integer that does not parse or is out of bounds keeps its default and adds a complaint.
using EnvironmentLookup = std::function<std::optional<std::string>(const char* name)>;
[[nodiscard]] Config read_config(const EnvironmentLookup& lookup = {});

/// For documentation and `farcl help`.
struct OptionDescription {
  std::string_view name;
  std::string default_value;
  std::string_view doc;
};
[[nodiscard]] std::vector<OptionDescription> describe_options();

} // namespace farcl
