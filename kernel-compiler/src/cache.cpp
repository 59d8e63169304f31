#include "cache.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace farcl::kernel_compiler {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kEntryMagic = 0x31454843414b4346ULL; // "FCKACHE1"
constexpr std::size_t kHashBytes = 32;
constexpr const char* kSuffix = ".kernel";
constexpr std::uint64_t kMaxSharedObjectBytes = 256ULL << 20;
/// Removing goes on below the bound, so that not every store has to remove.
constexpr double kKeepAfterCleaning = 0.8;

using Hash = std::array<std::uint8_t, kHashBytes>;

Hash sha256(std::initializer_list<ConstBytes> parts) {
  Hash hash{};
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestInit_ex(context, EVP_sha256(), nullptr);
  for (const ConstBytes part : parts) {
    EVP_DigestUpdate(context, part.data(), part.size());
  }
  EVP_DigestFinal_ex(context, hash.data(), nullptr);
  EVP_MD_CTX_free(context);
  return hash;
}

ConstBytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

struct Entry {
  std::uint64_t magic = kEntryMagic;
  Hash checksum{};
  ConstBytes data; ///< an encoded CompileReplyData
  ConstBytes shared_object;

  static constexpr auto fields() {
    using T = Entry;
    return std::tuple(field("magic", &T::magic), field("checksum", &T::checksum), field("data", &T::data, kMaxMessageBytes),
                      field("shared_object", &T::shared_object, kMaxSharedObjectBytes));
  }
};

/// Kernels run in workers from what lies here: nobody else may write to it.
Status check_folder(const std::string& folder) {
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0) {
    return fail_errno(errno, "the cache folder " + folder);
  }
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 022) != 0) {
    return fail(ErrorCode::kInvalid, "the cache folder " + folder + " must belong to this user and be writable by nobody else");
  }
  return {};
}

} // namespace

Status write_all(int fd, ConstBytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return fail_errno(errno, "write");
    }
    bytes = bytes.subspan(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return {};
}

Result<UniqueFd> sealed_file(ConstBytes bytes) {
  UniqueFd file(::memfd_create("farcl-kernels", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) {
    return fail_errno(errno, "memfd_create");
  }
  if (auto written = write_all(file.get(), bytes); !written) {
    return pass_on(std::move(written));
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail_errno(errno, "sealing a memory file");
  }
  return file;
}

Result<ByteVector> read_file(int fd, std::uint64_t max_bytes) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    return fail_errno(errno, "fstat");
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > max_bytes) {
    return fail(ErrorCode::kLimit, "a file of " + std::to_string(size) + " bytes is too large");
  }
  ByteVector bytes(static_cast<std::size_t>(size));
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t count = ::pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return fail(ErrorCode::kSystem, "a file ends too early");
    }
    at += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return bytes;
}

Result<Cache> Cache::open(const std::string& folder, std::uint64_t max_bytes) {
  Cache cache;
  cache.folder_ = folder;
  cache.max_bytes_ = max_bytes;
  if (folder.empty()) {
    return cache;
  }
  std::error_code error;
  fs::create_directories(fs::path(folder).parent_path(), error);
  ::mkdir(folder.c_str(), 0700);
  if (auto checked = check_folder(folder); !checked) {
    return pass_on(std::move(checked));
  }
  cache.measure();
  return cache;
}

std::string Cache::key_of(const std::string& identity, const ContentHash& content) {
  const Hash hash = sha256({bytes_of(identity), std::as_bytes(std::span(content))});
  std::string key;
  for (const std::uint8_t byte : hash) {
    constexpr const char* kDigits = "0123456789abcdef";
    key += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return key;
}

std::string Cache::path_of(const std::string& key) const { return folder_ + "/" + key + kSuffix; }

std::optional<CachedResult> Cache::find(const std::string& key) {
  if (folder_.empty()) {
    return std::nullopt;
  }
  const std::string path = path_of(key);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) {
    return std::nullopt;
  }
  const auto bytes = read_file(file.get(), kMaxMessageBytes + kMaxSharedObjectBytes);
  Entry entry;
  CachedResult result;
  if (!bytes || !Reader(*bytes).read(entry) || entry.magic != kEntryMagic ||
      entry.checksum != sha256({bytes_of(key), entry.data, entry.shared_object}) || !Reader(entry.data).read(result.data)) {
    ::unlink(path.c_str());
    return std::nullopt;
  }
  if (result.data.has_shared_object) {
    auto sealed = sealed_file(entry.shared_object);
    if (!sealed) {
      return std::nullopt;
    }
    result.shared_object = std::move(*sealed);
  }
  ::futimens(file.get(), nullptr);
  result.data.from_cache = true;
  return result;
}

Status Cache::store(const std::string& key, const CompileReplyData& data, int shared_object) {
  if (folder_.empty()) {
    return {};
  }
  const ByteVector encoded = encode(data);
  ByteVector object;
  if (shared_object >= 0) {
    auto bytes = read_file(shared_object, kMaxSharedObjectBytes);
    if (!bytes) {
      return pass_on(std::move(bytes));
    }
    object = std::move(*bytes);
  }
  Entry entry;
  entry.data = encoded;
  entry.shared_object = object;
  entry.checksum = sha256({bytes_of(key), entry.data, entry.shared_object});
  const ByteVector bytes = encode(entry);
  if (bytes.size() > max_bytes_) {
    return {};
  }
  std::string temporary = folder_ + "/new-XXXXXX";
  const UniqueFd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) {
    return fail_errno(errno, "making a cache entry");
  }
  auto written = write_all(file.get(), bytes);
  if (written && ::rename(temporary.c_str(), path_of(key).c_str()) != 0) {
    written = fail_errno(errno, "naming a cache entry");
  }
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  used_bytes_ += bytes.size();
  if (used_bytes_ > max_bytes_) {
    make_room();
  }
  return {};
}

void Cache::measure() {
  used_bytes_ = 0;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(folder_, error)) {
    used_bytes_ += file.is_regular_file(error) ? file.file_size(error) : 0;
  }
}

void Cache::make_room() {
  struct File {
    fs::file_time_type used;
    std::uint64_t size;
    fs::path path;
  };
  std::vector<File> files;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(folder_, error)) {
    if (file.is_regular_file(error) && file.path().extension() == kSuffix) {
      files.push_back({file.last_write_time(error), file.file_size(error), file.path()});
    }
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used > b.used; });
  const auto keep = static_cast<std::uint64_t>(static_cast<double>(max_bytes_) * kKeepAfterCleaning);
  std::uint64_t kept = 0;
  for (const File& file : files) {
    if (kept + file.size > keep) {
      fs::remove(file.path, error);
    } else {
      kept += file.size;
    }
  }
  used_bytes_ = kept;
}

} // namespace farcl::kernel_compiler
