#include "daemon/device/host_memory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace farcl::daemon {

namespace {
/// From here on a block has pages of its own, which the system gives zeroed and takes back at once.
constexpr std::uint64_t kMapFromBytes = 128u << 10;
/// From here on large pages pay: a first touch of 2 MiB costs one fault instead of 512.
constexpr std::uint64_t kLargePageBytes = 2u << 20;
} // namespace

Result<MemoryPtr> HostMemory::allocate(std::uint64_t size_bytes) {
  if (size_bytes < kMapFromBytes) {
    const std::uint64_t rounded = (size_bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
    auto* data = static_cast<std::byte*>(std::aligned_alloc(kMemoryAlignment, rounded == 0 ? kMemoryAlignment : rounded));
    if (data == nullptr) {
      return fail(ErrorCode::kOutOfMemory, "no memory for a buffer of " + std::to_string(size_bytes) + " bytes");
    }
    std::memset(data, 0, rounded);
    return std::make_shared<HostMemory>(data, size_bytes, 0);
  }
  void* mapped = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    auto failure = fail_errno(errno, "mapping a buffer of " + std::to_string(size_bytes) + " bytes");
    failure.value().code = ErrorCode::kOutOfMemory;
    return failure;
  }
  if (size_bytes >= kLargePageBytes) {
    (void)::madvise(mapped, size_bytes, MADV_HUGEPAGE); // only a hint
  }
  return std::make_shared<HostMemory>(static_cast<std::byte*>(mapped), size_bytes, size_bytes);
}

HostMemory::~HostMemory() {
  if (mapped_bytes_ != 0) {
    ::munmap(data_, mapped_bytes_);
  } else {
    std::free(data_);
  }
}

} // namespace farcl::daemon
