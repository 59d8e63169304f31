// TemporaryFolder: a private folder (mode 0700) that is removed with everything in it.
#pragma once

#include "farcl/base/result.hpp"

#include <filesystem>
#include <utility>

namespace farcl::tools {

/// Removes `folder` with everything in it, also while other processes remove, or for a moment still make, files in it.
void remove_folder(const std::filesystem::path& folder) noexcept;

class TemporaryFolder {
public:
  /// In $XDG_RUNTIME_DIR where that is ours, else in $TMPDIR or /tmp. Short enough for the path of a Unix socket in it.
  [[nodiscard]] static Result<TemporaryFolder> create();

  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder() { remove(); }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  void remove() noexcept;

private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

} // namespace farcl::tools
