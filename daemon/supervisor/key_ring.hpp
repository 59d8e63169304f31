// The keys of this server: whom it lets in.
//
// They are read when the daemon starts and again at each SIGHUP. A key that has gone from the file is revoked: it is remembered as such,
// so that its owner is told.
#pragma once

#include "farcl/net/keys.hpp"

#include <optional>
#include <string>
#include <vector>

namespace farcl::daemon {

class KeyRing {
public:
  /// Of a server without keys: knows none.
  KeyRing() = default;
  [[nodiscard]] static Result<KeyRing> open(std::string path);

  /// False: this server has no keys and asks for none.
  [[nodiscard]] bool is_used() const noexcept { return !path_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Reads the file again. After a failure everything is as before.
  Status reload();

  /// A revoked one too; null: never heard of it.
  [[nodiscard]] net::KeyPtr find(const protocol::KeyId& id) const;
  /// Why nobody is let in with it, or may stay, as a sentence: "the key 'x' was revoked". Nothing: it is good.
  [[nodiscard]] std::optional<std::string> objection(const net::Key& key, std::int64_t now_seconds) const;

private:
  struct Entry {
    net::KeyPtr key;
    bool revoked = false;
  };
  [[nodiscard]] const Entry* entry_of(const protocol::KeyId& id) const;
  std::string path_;
  std::vector<Entry> entries_;
};

/// Seconds since 1970, as expiry dates are counted.
[[nodiscard]] std::int64_t seconds_since_1970();

} // namespace farcl::daemon
