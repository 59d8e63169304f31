#include "vendors.hpp"

#include "find_parts.hpp"

#include <cstdlib>
#include <fstream>
#include <vector>

namespace farcl::tools {

namespace fs = std::filesystem;

namespace {
constexpr const char* kSystemVendors = "/etc/OpenCL/vendors";

// The .icd files that the loader would read now: OCL_ICD_VENDORS names a folder or one file.
std::vector<fs::path> current_icd_files() {
  const char* chosen = std::getenv("OCL_ICD_VENDORS");
  if (chosen == nullptr || *chosen == '\0') {
    chosen = std::getenv("OPENCL_VENDOR_PATH");
  }
  const fs::path place = chosen != nullptr && *chosen != '\0' ? chosen : kSystemVendors;
  std::error_code ignored;
  if (fs::is_regular_file(place, ignored)) {
    return {fs::absolute(place)};
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(place, ignored)) {
    if (entry.path().extension() == ".icd") {
      files.push_back(fs::absolute(entry.path()));
    }
  }
  return files;
}

bool names_farcl(const fs::path& icd_file) {
  std::ifstream file(icd_file);
  std::string library;
  std::getline(file, library);
  return fs::path(library).filename().string().starts_with("libfarcl.so");
}

Status write_icd(const fs::path& path, const fs::path& library) {
  std::ofstream file(path);
  file << library.string() << '\n';
  file.close();
  return file ? Status() : fail(ErrorCode::kSystem, "cannot write " + path.string());
}
} // namespace

Result<std::optional<std::string>> prepare_vendors(const fs::path& folder, Platforms platforms) {
  const auto driver = find_driver();
  const std::vector<fs::path> icd_files = current_icd_files();
  std::vector<fs::path> links;
  bool has_farcl = false;
  for (const fs::path& file : icd_files) {
    const bool is_farcl = names_farcl(file);
    has_farcl = has_farcl || is_farcl;
    // The driver of this build or prefix comes before an installed one: the program and farcld should be of one version.
    if (is_farcl ? !driver : platforms == Platforms::kFarclBesideOthers) {
      links.push_back(file);
    }
  }
  if (!driver && !has_farcl) {
    return fail(ErrorCode::kInvalid, "cannot find libfarcl.so: it is neither installed nor beside this program's folder");
  }
  if (!driver && links.size() == icd_files.size()) {
    return std::nullopt;
  }
  std::error_code error;
  fs::create_directory(folder, error);
  for (const fs::path& file : links) {
    if (!error) {
      fs::create_symlink(file, folder / file.filename(), error);
    }
  }
  if (error) {
    return fail(ErrorCode::kSystem, "cannot fill " + folder.string() + ": " + error.message());
  }
  if (driver) {
    if (auto written = write_icd(folder / "farcl-run.icd", *driver); !written) {
      return pass_on(std::move(written));
    }
  }
  return folder.string();
}

} // namespace farcl::tools
