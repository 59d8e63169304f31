#include "temporary_folder.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace farcl::tools {

namespace {
// sockaddr_un holds 108 bytes; the folder's own name and the socket's need 30 of them.
constexpr std::size_t kMaxParentBytes = 70;
constexpr int kRemoveAttempts = 100;
constexpr std::chrono::milliseconds kRemovePause{5};

bool is_usable(const char* parent) {
  struct stat status{};
  return parent != nullptr && parent[0] == '/' && std::string_view(parent).size() <= kMaxParentBytes && ::stat(parent, &status) == 0 &&
         S_ISDIR(status.st_mode) && ::access(parent, W_OK | X_OK) == 0;
}

// The runtime folder of another user (after su) must not be used, even where root could write to it.
bool is_ours(const char* parent) {
  struct stat status{};
  return ::stat(parent, &status) == 0 && status.st_uid == ::geteuid();
}

std::string parent_folder() {
  const char* runtime = ::secure_getenv("XDG_RUNTIME_DIR");
  if (is_usable(runtime) && is_ours(runtime)) {
    return runtime;
  }
  const char* temporary = ::secure_getenv("TMPDIR");
  return is_usable(temporary) ? temporary : "/tmp";
}
} // namespace

void remove_folder(const std::filesystem::path& folder) noexcept {
  for (int attempt = 0; attempt < kRemoveAttempts; ++attempt) {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    // remove_all() stops at an entry that somebody else removes under it, and at a folder that somebody fills again.
    if (error != std::errc::no_such_file_or_directory && error != std::errc::directory_not_empty) {
      return; // done; or nothing better can be done about it
    }
    std::this_thread::sleep_for(kRemovePause);
  }
}

Result<TemporaryFolder> TemporaryFolder::create() {
  std::string name = parent_folder() + "/farcl-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) { // mkdtemp gives mode 0700
    return fail_errno(errno, "cannot make the temporary folder " + name);
  }
  return TemporaryFolder(name);
}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
  }
  return *this;
}

void TemporaryFolder::remove() noexcept {
  if (!path_.empty()) {
    remove_folder(path_);
    path_.clear();
  }
}

} // namespace farcl::tools
