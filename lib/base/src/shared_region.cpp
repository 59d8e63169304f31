#include "farcl/base/shared_region.hpp"

#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace farcl {

namespace {
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
}

SharedRegion& SharedRegion::operator=(SharedRegion&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(owner_, other.owner_);
  return *this;
}

SharedRegion::~SharedRegion() {
  if (data_ != nullptr && owner_ == ::getpid()) {
    ::munmap(data_, size_bytes_);
  }
}

Result<SharedRegion> SharedRegion::create(const char* name, std::uint64_t size_bytes) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(size_bytes)) != 0 || ::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return fail_errno(errno, "cannot make shared memory");
  }
  return open(std::move(fd), size_bytes, size_bytes);
}

Result<SharedRegion> SharedRegion::open(UniqueFd from, std::uint64_t least_bytes, std::uint64_t most_bytes) {
  struct stat about{};
  if (::fstat(from.get(), &about) != 0) {
    return fail_errno(errno, "cannot look at shared memory");
  }
  const auto size = static_cast<std::uint64_t>(about.st_size);
  const int seals = ::fcntl(from.get(), F_GET_SEALS);
  if (size == 0 || size < least_bytes || size > most_bytes || seals < 0 || (seals & kSeals) != kSeals) {
    return fail(ErrorCode::kInvalid, "shared memory of another size, or not sealed");
  }
  if (size > std::numeric_limits<std::size_t>::max() / 2) {
    return fail(ErrorCode::kOutOfMemory, "shared memory of more bytes than this process can address");
  }
  void* memory = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, from.get(), 0);
  if (memory == MAP_FAILED) {
    return fail_errno(errno, "cannot map shared memory");
  }
  SharedRegion region;
  region.fd_ = std::move(from);
  region.data_ = static_cast<std::byte*>(memory);
  region.size_bytes_ = size;
  region.owner_ = ::getpid();
  return region;
}

void SharedRegion::keep_from_children() noexcept {
  (void)::madvise(data_, static_cast<std::size_t>(size_bytes_), MADV_DONTFORK);
  fd_.reset();
}

} // namespace farcl
