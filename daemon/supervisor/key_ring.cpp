#include "daemon/supervisor/key_ring.hpp"

#include <algorithm>
#include <chrono>

namespace farcl::daemon {

namespace {
Status check_for_server(const std::vector<net::KeyPtr>& keys, const std::string& path) {
  if (keys.empty()) {
    return fail(ErrorCode::kInvalid, "there is no key in " + path + "; farcl keygen makes one");
  }
  for (const net::KeyPtr& key : keys) {
    if (key->is_none()) {
      return fail(ErrorCode::kInvalid, path + ": 'none' (" + key->name + ") is for clients; a server lets in nobody without a key");
    }
    const auto same = std::count_if(keys.begin(), keys.end(), [&](const net::KeyPtr& other) { return other->id == key->id; });
    if (same != 1) {
      return fail(ErrorCode::kInvalid, path + ": two keys have the same secret; one of them is " + key->name);
    }
  }
  return {};
}
} // namespace

std::int64_t seconds_since_1970() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch()).count();
}

Result<KeyRing> KeyRing::open(std::string path) {
  KeyRing ring;
  ring.path_ = std::move(path);
  auto status = ring.reload();
  return status ? Result<KeyRing>(std::move(ring)) : pass_on(std::move(status));
}

std::size_t KeyRing::size() const noexcept {
  return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return !entry.revoked; }));
}

Status KeyRing::reload() {
  auto keys = net::read_key_file(path_);
  if (!keys) {
    return pass_on(std::move(keys));
  }
  if (auto status = check_for_server(*keys, path_); !status) {
    return status;
  }
  std::vector<Entry> entries;
  for (net::KeyPtr& key : *keys) {
    entries.push_back({std::move(key), false});
  }
  entries.swap(entries_);
  for (Entry& old : entries) {
    if (entry_of(old.key->id) == nullptr) {
      entries_.push_back({std::move(old.key), true});
    }
  }
  return {};
}

const KeyRing::Entry* KeyRing::entry_of(const protocol::KeyId& id) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key->id == id; });
  return found == entries_.end() ? nullptr : &*found;
}

net::KeyPtr KeyRing::find(const protocol::KeyId& id) const {
  const Entry* const entry = entry_of(id);
  return entry == nullptr ? nullptr : entry->key;
}

// Asked by id: a session holds the key as it was when it began.
std::optional<std::string> KeyRing::objection(const net::Key& key, std::int64_t now_seconds) const {
  const Entry* const entry = entry_of(key.id);
  if (entry == nullptr || entry->revoked) {
    return "the key '" + key.name + "' was revoked";
  }
  const std::int64_t expires_at = entry->key->expires_at;
  if (expires_at != 0 && now_seconds >= expires_at) {
    return "the key '" + key.name + "' has expired";
  }
  return std::nullopt;
}

} // namespace farcl::daemon
