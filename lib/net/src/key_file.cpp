// Files of keys: who may read them, and which key is for which server.
#include "farcl/net/keys.hpp"

#include "farcl/base/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>

namespace farcl::net {

namespace {
constexpr std::size_t kMaxFileBytes = 1u << 20;

/// A file that others can read has told its secrets already; one that others can change holds their keys, not its owner's.
Status check_owner(const struct stat& about, const std::string& path) {
  if (!S_ISREG(about.st_mode)) {
    return fail(ErrorCode::kInvalid, "the key file " + path + " is no ordinary file");
  }
  if (about.st_uid != ::geteuid() && about.st_uid != 0) {
    return fail(ErrorCode::kInvalid, "the key file " + path + " belongs to another user");
  }
  if ((about.st_mode & 077) != 0) {
    return fail(ErrorCode::kInvalid,
                "the key file " + path + " can be read by others than its owner; if nobody has, say: chmod 600 " + path);
  }
  return {};
}

Result<std::string> read_private_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about{};
  if (!file || ::fstat(file.get(), &about) != 0) {
    return fail_errno(errno, "cannot read the key file " + path);
  }
  if (auto status = check_owner(about, path); !status) {
    return pass_on(std::move(status));
  }
  std::string text(kMaxFileBytes + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail_errno(errno, "cannot read the key file " + path);
    }
    if (got == 0) {
      break;
    }
    have += static_cast<std::size_t>(got);
  }
  if (have > kMaxFileBytes) {
    return fail(ErrorCode::kLimit, "the key file " + path + " is larger than 1 MiB");
  }
  text.resize(have);
  return text;
}

/// * stands for any characters; everything else for itself. (fnmatch would take an IPv6 address in brackets for a set of characters.)
bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) {
    return pattern == text;
  }
  if (!text.starts_with(pattern.substr(0, star))) {
    return false;
  }
  for (std::size_t at = star; at <= text.size(); ++at) {
    if (matches(pattern.substr(star + 1), text.substr(at))) {
      return true;
    }
  }
  return false;
}

bool is_for(const Key& key, const ServerAddress& address) {
  const std::string host = address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
  const std::string with_port = host + ":" + std::to_string(address.port);
  return key.servers.empty() || std::any_of(key.servers.begin(), key.servers.end(), [&](const std::string& pattern) {
           return matches(pattern, host) || matches(pattern, with_port);
         });
}
} // namespace

Result<std::vector<KeyPtr>> read_key_file(const std::string& path) {
  auto text = read_private_file(path);
  if (!text) {
    return pass_on(std::move(text));
  }
  std::vector<KeyPtr> keys;
  std::set<std::string> names;
  std::string_view rest(*text);
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') {
      continue;
    }
    auto key = parse_key_line(line);
    if (key && !names.insert(key->name).second) {
      key = fail(ErrorCode::kInvalid, "there is another key with the name " + key->name);
    }
    if (!key || keys.size() == kMaxKeysPerFile) {
      return fail(ErrorCode::kInvalid, path + ", line " + std::to_string(number) + ": " + (key ? "too many keys" : key.error().message));
    }
    keys.push_back(std::make_shared<const Key>(std::move(*key)));
  }
  ::explicit_bzero(text->data(), text->size());
  return keys;
}

std::string default_key_file() {
  if (const char* config = ::secure_getenv("XDG_CONFIG_HOME"); config != nullptr && config[0] == '/') {
    return std::string(config) + "/farcl/keys";
  }
  const char* home = ::secure_getenv("HOME");
  if (home == nullptr || home[0] != '/') {
    return {};
  }
  return std::string(home) + "/.config/farcl/keys";
}

Result<KeyPtr> key_for(const ServerAddress& address, const std::string& key_file) {
  const std::string path = key_file.empty() ? default_key_file() : key_file;
  if (address.scheme != Scheme::kTcp || path.empty()) {
    return KeyPtr();
  }
  auto keys = read_key_file(path);
  if (!keys) {
    const bool missing = keys.error().system_errno == ENOENT || keys.error().system_errno == ENOTDIR;
    return key_file.empty() && missing ? Result<KeyPtr>(KeyPtr()) : pass_on(std::move(keys));
  }
  const auto found = std::find_if(keys->begin(), keys->end(), [&](const KeyPtr& key) { return is_for(*key, address); });
  return found == keys->end() || (*found)->is_none() ? KeyPtr() : *found;
}

} // namespace farcl::net
