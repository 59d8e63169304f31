// CpuDevice: this machine's processor as an OpenCL device.
//
// Threads: submit is called on the session thread, which runs short commands itself; long kernels go to the backend's pool,
// long copies to one thread of their own, so that an endless kernel stops neither transfers nor other queues' short kernels.
#pragma once

#include "daemon/backends/cpu/launch.hpp"
#include "daemon/backends/cpu/thread_pool.hpp"
#include "daemon/common/worker_page.hpp"
#include "daemon/device/device.hpp"

namespace farcl::daemon {

/// Commands up to this cost run on the session thread. A kernel of 20,000 instructions takes a few microseconds, less than
/// waking a thread; the compiler must have bounded its cost.
inline constexpr std::uint64_t kInlineInstructions = 20'000;
inline constexpr std::uint64_t kInlineCopyBytes = 256u << 10;
/// A kernel that needs more stack than this does not run on the session thread; more than the second does not run at all.
inline constexpr std::uint64_t kInlinePrivateBytes = 256u << 10;
inline constexpr std::uint64_t kMaxPrivateBytes = 4u << 20;
/// CL_DEVICE_LOCAL_MEM_SIZE: per work-group, so that what all threads use stays in the second-level caches.
inline constexpr std::uint64_t kLocalMemoryBytes = 256u << 10;

/// What the devices of one backend share.
struct CpuShared {
  CpuShared(unsigned threads, WorkerPage* from) : kernels(threads), copies(1), page(from) {}
  ThreadPool kernels;
  ThreadPool copies;
  WorkerPage* page;                         ///< may be null
  std::atomic<std::uint64_t> used_slots{0}; ///< one bit per slot of the page

  /// A slot for a job's kernel; -1: all are taken (the kernel runs unreported).
  [[nodiscard]] int take_slot() noexcept;
  void give_slot(int slot) noexcept;
};

class CpuDevice final : public Device {
public:
  CpuDevice(protocol::DeviceInfo info, ProgramBuilder& builder, CpuShared& shared)
      : info_(std::move(info)), builder_(builder), shared_(shared) {}

  [[nodiscard]] const protocol::DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::uint64_t local_memory_bytes() const noexcept override { return kLocalMemoryBytes; }
  [[nodiscard]] ProgramBuilder& builder() noexcept override { return builder_; }
  [[nodiscard]] Result<MemoryPtr> allocate(std::uint64_t size_bytes, SharedMemorySource* shared) override {
    MemoryPtr memory = shared != nullptr ? shared->allocate(size_bytes) : nullptr;
    return memory != nullptr ? Result<MemoryPtr>(std::move(memory)) : HostMemory::allocate(size_bytes);
  }
  std::optional<DeviceResult> submit(const DeviceCommand& command, Token token, bool want_times, CompletionSink& sink) override;

private:
  std::optional<DeviceResult> start(const Launch& launch, Token token, bool want_times, CompletionSink& sink);
  template <class Operation>
  std::optional<DeviceResult> start(const Operation& operation, Token token, bool want_times, CompletionSink& sink);

  protocol::DeviceInfo info_;
  ProgramBuilder& builder_;
  CpuShared& shared_;
  PreparedLaunch prepared_; ///< recycled for launches on the session thread
  ThreadScratch scratch_;
};

} // namespace farcl::daemon
