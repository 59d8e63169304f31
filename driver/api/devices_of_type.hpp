// Which devices a cl_device_type means: clGetDeviceIDs and clCreateContextFromType.
#pragma once

#include "driver/objects/device.hpp"
#include "driver/objects/platform.hpp"

#include <vector>

namespace farcl::driver {

/// CL_INVALID_DEVICE_TYPE or CL_DEVICE_NOT_FOUND.
[[nodiscard]] cl_int devices_of_type(const Platform& platform, cl_device_type type, std::vector<Device*>& matching);

} // namespace farcl::driver
