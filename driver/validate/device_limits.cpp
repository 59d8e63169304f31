#include "driver/validate/device_limits.hpp"

#include <algorithm>

namespace farcl::driver::validate {

NdRangeLimits nd_range_limits(const Device& device) {
  NdRangeLimits limits;
  limits.max_dimensions = device.number(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3);
  limits.max_work_group_size = device.number(CL_DEVICE_MAX_WORK_GROUP_SIZE, 1);
  limits.max_work_item_sizes.fill(limits.max_work_group_size);
  if (const Device::Value* value = device.property(CL_DEVICE_MAX_WORK_ITEM_SIZES)) {
    if (const auto* sizes = std::get_if<std::vector<std::uint64_t>>(value)) {
      std::copy_n(sizes->begin(), std::min<std::size_t>(sizes->size(), 3), limits.max_work_item_sizes.begin());
    }
  }
  limits.address_bits = device.number(CL_DEVICE_ADDRESS_BITS, 64);
  limits.local_memory_bytes = device.number(CL_DEVICE_LOCAL_MEM_SIZE);
  limits.empty_range_allowed = device.number(CL_DEVICE_NUMERIC_VERSION) >= CL_MAKE_VERSION(2, 1, 0);
  return limits;
}

std::uint64_t max_alloc_bytes(const Context& context) {
  std::uint64_t most = 0;
  for (const Device* device : context.devices()) {
    most = std::max(most, device->number(CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  }
  return most;
}

std::vector<std::uint64_t> alignments_bits(const Context& context) {
  std::vector<std::uint64_t> alignments;
  for (const Device* device : context.devices()) {
    alignments.push_back(device->number(CL_DEVICE_MEM_BASE_ADDR_ALIGN));
  }
  return alignments;
}

} // namespace farcl::driver::validate
