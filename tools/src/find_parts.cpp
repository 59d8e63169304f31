#include "find_parts.hpp"

#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace farcl::tools {

namespace fs = std::filesystem;

namespace {
bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}
} // namespace

fs::path own_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path("/usr/bin") : self.parent_path();
}

std::optional<fs::path> find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return is_program(name) ? std::optional(fs::absolute(name)) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (is_program(candidate)) {
      return candidate;
    }
  }
  return std::nullopt;
}

Result<fs::path> find_daemon() {
  const fs::path folder = own_folder();
  for (const fs::path& candidate :
       {folder / "farcld", folder.parent_path() / "libexec/farcl/farcld", folder.parent_path() / "sbin/farcld"}) {
    if (is_program(candidate)) {
      return candidate;
    }
  }
  if (auto found = find_in_path("farcld")) {
    return *found;
  }
  return fail(ErrorCode::kInvalid, "cannot find farcld: it is neither beside " + (folder / "farcl").string() + " nor in PATH");
}

std::optional<fs::path> find_driver() {
  const fs::path prefix = own_folder().parent_path();
  for (const char* place : {"lib/libfarcl.so", "lib/" FARCL_LIBRARY_ARCHITECTURE "/libfarcl.so", "lib64/libfarcl.so"}) {
    std::error_code ignored;
    if (fs::is_regular_file(prefix / place, ignored)) {
      return prefix / place;
    }
  }
  return std::nullopt;
}

} // namespace farcl::tools
