#include "farcl/net/keys.hpp"

#include "crypto.hpp"
#include "farcl/base/numbers.hpp"
#include "words.hpp"

#include <algorithm>
#include <cctype>
#include <ctime>

namespace farcl::net {

namespace {
constexpr std::string_view kNone = "none";
constexpr std::string_view kIdLabel = "farcl 1 key id";
constexpr std::uint32_t kMaxSessionsOfAKey = 1u << 20;
constexpr std::int64_t kDaySeconds = 24 * 3600;

tl::unexpected<Error> invalid(std::string message) { return fail(ErrorCode::kInvalid, std::move(message)); }

protocol::KeyId id_of(const Secret& secret) {
  const Secret derived = derive(secret, kIdLabel, {});
  protocol::KeyId id{};
  std::copy_n(derived.bytes.begin(), id.size(), id.begin());
  return id;
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  for_each_word(text, separators, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

Status take_option(Key& key, std::string_view name, std::string_view value) {
  if (name == "servers") {
    key.servers = split(value, ",");
    return key.servers.empty() ? Status(invalid("servers= names none")) : Status{};
  }
  if (name == "expires") {
    auto when = parse_expiry(value);
    key.expires_at = when.value_or(0);
    return when ? Status{} : pass_on(std::move(when));
  }
  if (name == "sessions") {
    const bool good = parse_number(value, key.max_sessions) && key.max_sessions != 0 && key.max_sessions <= kMaxSessionsOfAKey;
    return good ? Status{} : Status(invalid("sessions= takes a number from 1"));
  }
  if (name == "memory") {
    auto bytes = parse_bytes(value);
    key.memory_bytes = bytes.value_or(0);
    return key.memory_bytes != 0 ? Status{} : Status(invalid("memory= takes a size like 512M or 4G"));
  }
  return invalid("there is no option '" + std::string(name) + "='; it knows servers, expires, sessions and memory");
}

std::string date_of(std::int64_t expires_at) {
  const std::time_t last_day = expires_at - kDaySeconds;
  std::tm parts{};
  ::gmtime_r(&last_day, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts)};
}
} // namespace

bool is_key_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kMaxKeyNameBytes && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-' || c == '@';
  });
}

Result<std::int64_t> parse_expiry(std::string_view date) {
  std::tm parts{};
  const bool shaped = date.size() == 10 && date[4] == '-' && date[7] == '-' && parse_number(date.substr(0, 4), parts.tm_year) &&
                      parse_number(date.substr(5, 2), parts.tm_mon) && parse_number(date.substr(8, 2), parts.tm_mday);
  const std::tm asked = parts;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  const std::time_t begin = ::timegm(&parts);
  // timegm makes the 2nd of March of the 30th of February; a date that is none is a mistake.
  if (!shaped || begin < 0 || parts.tm_mon + 1 != asked.tm_mon || parts.tm_mday != asked.tm_mday) {
    return invalid("'" + std::string(date.substr(0, 32)) + "' is no date like 2027-01-31");
  }
  return begin + kDaySeconds;
}

Result<Key> make_key(std::string name) {
  Key key;
  key.name = std::move(name);
  if (auto status = fill_randomly(key.secret.bytes); !status) {
    return pass_on(std::move(status));
  }
  key.id = id_of(key.secret);
  return key;
}

std::string to_line(const Key& key) {
  std::string line = key.name + " " + (key.is_none() ? std::string(kNone) : to_base64(key.secret));
  std::string servers;
  for (const std::string& pattern : key.servers) {
    servers += (servers.empty() ? " servers=" : ",") + pattern;
  }
  line += servers;
  if (key.expires_at != 0) {
    line += " expires=" + date_of(key.expires_at);
  }
  if (key.max_sessions != 0) {
    line += " sessions=" + std::to_string(key.max_sessions);
  }
  if (key.memory_bytes != 0) {
    line += " memory=" + std::to_string(key.memory_bytes);
  }
  return line;
}

Result<Key> parse_key_line(std::string_view line) {
  const auto words = split(line, " \t\r");
  if (words.size() < 2 || !is_key_name(words[0])) {
    return invalid("a key is a name (letters, digits and . _ - @), its secret, and options");
  }
  Key key;
  key.name = words[0];
  if (words[1] != kNone) {
    auto secret = from_base64(words[1]);
    if (!secret) {
      return pass_on(std::move(secret));
    }
    key.secret = *secret;
    key.id = id_of(key.secret);
  }
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::size_t equals = std::min(words[i].find('='), words[i].size() - 1);
    const std::string_view word(words[i]);
    if (auto status = take_option(key, word.substr(0, equals), word.substr(equals + 1)); !status) {
      return pass_on(std::move(status));
    }
  }
  if (key.is_none() && key.servers.empty()) {
    return invalid("'none' needs servers=: those that are known to have no keys");
  }
  return key;
}

} // namespace farcl::net
