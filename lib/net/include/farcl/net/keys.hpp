// Keys: what lets a client in, and what both ends know of each other before they meet (docs/security.md).
//
// A key is 32 bytes that a server and its clients have in common. It stands in a file, one key a line, which is the same at both
// ends:
//
//     NAME SECRET [servers=PATTERN,...] [expires=2027-01-31] [sessions=4] [memory=8G]
//
// SECRET is base64, or `none` beside servers=: those servers are known to have no keys. Clients look at `servers`, the server at the
// rest. Nobody but its owner may be able to read the file.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/net/address.hpp"
#include "farcl/protocol/hello.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farcl::net {

/// 32 bytes that nobody else may know; wiped when they are let go of.
struct Secret {
  std::array<std::uint8_t, 32> bytes{};

  Secret() = default;
  explicit Secret(const std::array<std::uint8_t, 32>& from) : bytes(from) {}
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret() { ::explicit_bzero(bytes.data(), bytes.size()); }
};

struct Key {
  std::string name;
  Secret secret;
  protocol::KeyId id{};             ///< made from the secret; zeros: `none`
  std::vector<std::string> servers; ///< "host", "host:port", with * for any characters; empty: every server
  std::int64_t expires_at = 0;      ///< seconds since 1970, the first that is too late; 0: never
  std::uint32_t max_sessions = 0;   ///< at the same time; 0: as many as the server takes
  std::uint64_t memory_bytes = 0;   ///< of a session's buffers; 0: the server's limit

  [[nodiscard]] bool is_none() const noexcept {
    return std::all_of(id.begin(), id.end(), [](std::uint8_t one) { return one == 0; });
  }
};
using KeyPtr = std::shared_ptr<const Key>;

inline constexpr std::size_t kMaxKeyNameBytes = 64;
inline constexpr std::size_t kMaxKeysPerFile = 4096;

/// A fresh one, from the system's random source. The name has been checked with is_key_name.
[[nodiscard]] Result<Key> make_key(std::string name);
/// Letters, digits and ". _ - @", so that a name is a word in every file, log and shell.
[[nodiscard]] bool is_key_name(std::string_view name) noexcept;
/// The line of a key file, without its end.
[[nodiscard]] std::string to_line(const Key& key);
[[nodiscard]] Result<Key> parse_key_line(std::string_view line);
/// Seconds since 1970 at the end of that day (UTC), from "2027-01-31".
[[nodiscard]] Result<std::int64_t> parse_expiry(std::string_view date);

/// Every key of a file. Refuses one that somebody else than its owner can read, and says what to do.
[[nodiscard]] Result<std::vector<KeyPtr>> read_key_file(const std::string& path);

/// Where clients look when FARCL_KEY_FILE is not set; empty: there is no home folder.
[[nodiscard]] std::string default_key_file();
/// The first key in the client's file that is for this server: of `key_file`, or of the default file, which may be missing. Null: none,
/// or none is wanted. Only TCP uses keys: who may use a Unix socket or ssh is the system's business.
[[nodiscard]] Result<KeyPtr> key_for(const ServerAddress& address, const std::string& key_file);

} // namespace farcl::net
