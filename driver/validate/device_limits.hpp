// The limits that checks need, read from a device's properties. Looked up once per queue or context, not at each call.
#pragma once

#include "driver/objects/context.hpp"
#include "driver/objects/device.hpp"
#include "driver/validate/kernel.hpp"

#include <cstdint>
#include <vector>

namespace farcl::driver::validate {

[[nodiscard]] NdRangeLimits nd_range_limits(const Device& device);
/// The largest CL_DEVICE_MAX_MEM_ALLOC_SIZE of the context's devices.
[[nodiscard]] std::uint64_t max_alloc_bytes(const Context& context);
/// CL_DEVICE_MEM_BASE_ADDR_ALIGN of each device, in bits.
[[nodiscard]] std::vector<std::uint64_t> alignments_bits(const Context& context);

} // namespace farcl::driver::validate
