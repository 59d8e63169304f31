// HostMemory: zeroed memory of this process, for devices that compute in it.
#pragma once

#include "daemon/device/command.hpp"
#include "farcl/base/result.hpp"

namespace farcl::daemon {

/// Alignment of every block: CL_DEVICE_MEM_BASE_ADDR_ALIGN and the widest vector type.
inline constexpr std::uint64_t kMemoryAlignment = 128;

class HostMemory final : public Memory {
public:
  [[nodiscard]] static Result<MemoryPtr> allocate(std::uint64_t size_bytes);
  HostMemory(std::byte* data, std::uint64_t size_bytes, std::uint64_t mapped_bytes) noexcept
      : data_(data), size_bytes_(size_bytes), mapped_bytes_(mapped_bytes) {}
  ~HostMemory() override;
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] std::byte* host_pointer() const noexcept override { return data_; }

private:
  std::byte* data_;
  std::uint64_t size_bytes_;
  std::uint64_t mapped_bytes_; ///< 0: from the heap
};

} // namespace farcl::daemon
