#include "daemon/backends/cpu/cpu_backend.hpp"

namespace farcl::daemon {

CpuBackend::CpuBackend(UniqueFd compile_service, const CpuOptions& options)
    : shared_(options.threads, options.page), builder_(std::move(compile_service), options.build_limit) {
  for (unsigned i = 0; i < options.devices; ++i) {
    devices_.push_back(std::make_unique<CpuDevice>(cpu_device_info(options), builder_, shared_));
  }
}

std::vector<Device*> CpuBackend::devices() {
  std::vector<Device*> devices;
  for (const auto& device : devices_) {
    devices.push_back(device.get());
  }
  return devices;
}

void CpuBackend::stop() {
  shared_.kernels.stop();
  shared_.copies.stop();
}

} // namespace farcl::daemon
