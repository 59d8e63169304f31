#include "farcl/base/config.hpp"

#include <charconv>
#include <cstdlib>

namespace farcl {

namespace {
std::optional<std::string> from_environment(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

void read_integer(Config& config, const char* name, const std::optional<std::string>& text, std::int64_t minimum, std::int64_t maximum,
                  std::int64_t& into) {
  if (!text) {
    return;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < minimum || value > maximum) {
    config.complaints.push_back(std::string(name) + "='" + text->substr(0, 64) + "' is not a whole number from " + std::to_string(minimum) +
                                " to " + std::to_string(maximum) + "; using " + std::to_string(into));
    return;
  }
  into = value;
}
} // namespace

Config read_config(const EnvironmentLookup& lookup) {
  const EnvironmentLookup& get = lookup ? lookup : EnvironmentLookup(from_environment);
  Config config;
#define FARCL_STRING_OPTION(identifier, name, default_value, doc) \
  if (auto text = get(name)) {                                    \
    config.identifier = std::move(*text);                         \
  }
#define FARCL_INTEGER_OPTION(identifier, name, default_value, minimum, maximum, doc) \
  read_integer(config, name, get(name), minimum, maximum, config.identifier);
#include "farcl/base/config.def"
  return config;
}

std::vector<OptionDescription> describe_options() {
  std::vector<OptionDescription> options;
#define FARCL_STRING_OPTION(identifier, name, default_value, doc) options.push_back({name, default_value, doc});
#define FARCL_INTEGER_OPTION(identifier, name, default_value, minimum, maximum, doc) \
  options.push_back({name, std::to_string(default_value), doc});
#include "farcl/base/config.def"
  return options;
}

} // namespace farcl
