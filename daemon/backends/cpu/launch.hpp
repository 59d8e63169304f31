// PreparedLaunch: a kernel launch in the form of the kernel ABI, and the loop over its work-groups.
#pragma once

#include "daemon/device/command.hpp"
#include "daemon/device/host_memory.hpp"
#include "farcl/kernel_compiler/kernel_abi.h"

#include <vector>

namespace farcl::daemon {

class CpuKernel final : public DeviceKernel {
public:
  CpuKernel(const KernelInfo& info, FarclKernelFunction code) : DeviceKernel(info), function_(code) {}
  [[nodiscard]] FarclKernelFunction function() const noexcept { return function_; }

private:
  FarclKernelFunction function_;
};

/// What one thread needs beside its stack: local memory and frames; grows, never shrinks. One thread at a time.
class ThreadScratch {
public:
  /// Room of `size_bytes`, contents undefined, aligned for the kernel ABI; null if there is no memory.
  [[nodiscard]] std::byte* local(std::uint64_t size_bytes) { return grow(local_, size_bytes); }
  [[nodiscard]] std::byte* frames(std::uint64_t size_bytes) { return grow(frames_, size_bytes); }
  std::vector<void*> pointers; ///< of a launch with __local arguments: this thread's own
  std::vector<void*> addresses;

private:
  static std::byte* grow(MemoryPtr& memory, std::uint64_t size_bytes);
  MemoryPtr local_;
  MemoryPtr frames_;
};

/// Refers to the Launch's argument values; recycled by prepare().
class PreparedLaunch {
public:
  /// Chooses the local size if the program did not. The launch has been checked against the kernel by the session.
  void prepare(const Launch& launch, unsigned threads);
  void set_printf(void* context, int (*write)(void*, const FarclPrintfRecord*)) noexcept {
    abi_.printf_context = context;
    abi_.printf_write = write;
  }
  [[nodiscard]] std::uint64_t groups() const noexcept { return groups_; }
  [[nodiscard]] std::uint64_t items_per_group() const noexcept { return items_per_group_; }
  [[nodiscard]] const KernelInfo& info() const noexcept { return *info_; }

  /// Runs groups [first, last). CL_COMPLETE, or CL_OUT_OF_RESOURCES if the scratch memory could not be had.
  [[nodiscard]] cl_int run(std::uint64_t first, std::uint64_t last, ThreadScratch& scratch) const;

private:
  struct LocalRegion {
    std::size_t argument = 0;
    std::uint64_t offset = 0; ///< in the thread's local memory
  };
  void lay_out(unsigned threads); ///< what follows from kernel and range
  void prepare_arguments(const Launch& launch);
  [[nodiscard]] void* const* arguments_for(ThreadScratch& scratch, std::byte* local) const;
  void set_size_of_group(FarclGroup& group) const;

  FarclLaunch abi_{};
  FarclKernelFunction function_ = nullptr;
  const KernelInfo* info_ = nullptr;
  NdRange range_;
  std::uint64_t groups_ = 0;
  std::uint64_t items_per_group_ = 0;
  bool uniform_ = true;
  std::uint64_t local_bytes_ = 0; ///< static and of all arguments
  std::vector<void*> pointers_;
  std::vector<void*> addresses_;
  std::vector<LocalRegion> regions_;
};

} // namespace farcl::daemon
