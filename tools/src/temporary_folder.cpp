#include "temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace farcl::tools {

namespace {
// sockaddr_un holds 108 bytes; the folder's own name and the socket's need 30 of them.
constexpr std::size_t kMaxParentBytes = 70;

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
    std::error_code ignored; // somebody may have removed it already; nothing better can be done about any other failure
    std::filesystem::remove_all(path_, ignored);
    path_.clear();
  }
}

} // namespace farcl::tools
