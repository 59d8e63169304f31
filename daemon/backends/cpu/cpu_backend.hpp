// CpuBackend: the processor of this machine as one OpenCL device, or as several that share its threads (for programs that are
// to be tried with more than one device).
#pragma once

#include "daemon/backends/cpu/cpu_device.hpp"
#include "daemon/backends/cpu/kc_builder.hpp"

#include <memory>

namespace farcl::daemon {

struct CpuOptions {
  unsigned devices = 1;
  unsigned threads = 1;
  std::uint64_t memory_bytes = 0; ///< of all buffers of a session
  std::chrono::seconds build_limit{60};
  WorkerPage* page = nullptr; ///< where running kernels are reported; may be null
};

class CpuBackend {
public:
  CpuBackend(UniqueFd compile_service, const CpuOptions& options);

  [[nodiscard]] std::vector<Device*> devices();
  [[nodiscard]] KcBuilder& builder() noexcept { return builder_; }
  /// Waits for the kernels that run; afterwards no thread touches memory or a session.
  void stop();

private:
  CpuShared shared_;
  KcBuilder builder_;
  std::vector<std::unique_ptr<CpuDevice>> devices_;
};

/// What the device says about itself (cpu_info.cpp).
[[nodiscard]] protocol::DeviceInfo cpu_device_info(const CpuOptions& options);

} // namespace farcl::daemon
