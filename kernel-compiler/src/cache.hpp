// Results of builds on disk, by the hash of everything that decides them. Only the service's parent process uses it: a build
// child has no access. Entries are written whole under another name and renamed; a damaged entry is a miss and goes away.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/kernel_compiler/messages.hpp"

#include <optional>
#include <string>

namespace farcl::kernel_compiler {

struct CachedResult {
  CompileReplyData data;
  UniqueFd shared_object; ///< sealed memory file, if data.has_shared_object
};

class Cache {
public:
  static constexpr std::uint64_t kDefaultMaxBytes = 1ULL << 30;

  /// An empty folder name gives a cache that never keeps anything.
  static Result<Cache> open(const std::string& folder, std::uint64_t max_bytes);
  /// The name of a program's entry. `identity` is the compiler's; `hash` of a request, made here, or a guess when it is only looked for.
  static std::string key_of(const std::string& identity, const ContentHash& hash);

  std::optional<CachedResult> find(const std::string& key);
  /// `shared_object` is read from its beginning; negative if there is none.
  Status store(const std::string& key, const CompileReplyData& data, int shared_object);

private:
  [[nodiscard]] std::string path_of(const std::string& key) const;
  void measure();
  void make_room();

  std::string folder_;
  std::uint64_t max_bytes_ = 0;
  std::uint64_t used_bytes_ = 0;
};

/// A memory file with these bytes that nobody can change any more.
Result<UniqueFd> sealed_file(ConstBytes bytes);
Status write_all(int fd, ConstBytes bytes);
/// Everything in a regular or memory file, at most `max_bytes`.
Result<ByteVector> read_file(int fd, std::uint64_t max_bytes);

} // namespace farcl::kernel_compiler
