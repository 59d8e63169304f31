// Devices: what there is. They are root devices: retain and release do nothing, none can be partitioned.
#include "driver/objects/device.hpp"
#include "driver/api/devices_of_type.hpp"
#include "driver/api/with_object.hpp"
#include "driver/info/info.hpp"
#include "driver/objects/platform.hpp"

#include <algorithm>
#include <vector>

namespace farcl::driver {
namespace {

constexpr cl_device_type kKnownTypes =
    CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;

bool is_valid_type(cl_device_type type) { return type == CL_DEVICE_TYPE_ALL || (type != 0 && (type & ~kKnownTypes) == 0); }

} // namespace

cl_int devices_of_type(const Platform& platform, cl_device_type type, std::vector<Device*>& matching) {
  if (!is_valid_type(type)) {
    return CL_INVALID_DEVICE_TYPE;
  }
  matching.clear();
  for (Device* device : platform.devices()) {
    const cl_device_type own = device->number(CL_DEVICE_TYPE);
    // "All" leaves custom devices out; "default" is the first device.
    const bool matches =
        type == CL_DEVICE_TYPE_ALL ? (own & CL_DEVICE_TYPE_CUSTOM) == 0 : (own & type & ~cl_device_type{CL_DEVICE_TYPE_DEFAULT}) != 0;
    if (matches || ((type & CL_DEVICE_TYPE_DEFAULT) != 0 && type != CL_DEVICE_TYPE_ALL && device == platform.devices().front())) {
      matching.push_back(device);
    }
  }
  return matching.empty() ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

namespace {

cl_int root_device(Entry entry, cl_device_id device) {
  return guard(entry, [&]() -> cl_int { return Device::from(device) != nullptr ? CL_SUCCESS : CL_INVALID_DEVICE; });
}

} // namespace

namespace entry {

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type, cl_uint num_entries, cl_device_id* devices,
                                  cl_uint* num_devices) {
  return guard(Entry::clGetDeviceIDs, [&]() -> cl_int {
    const Platform* object = Platform::from(platform);
    if (object == nullptr) {
      return CL_INVALID_PLATFORM;
    }
    std::vector<Device*> matching;
    const cl_int found = devices_of_type(*object, device_type, matching);
    if (found == CL_INVALID_DEVICE_TYPE) {
      return found;
    }
    if ((num_entries == 0 && devices != nullptr) || (devices == nullptr && num_devices == nullptr)) {
      return CL_INVALID_VALUE;
    }
    if (num_devices != nullptr) {
      *num_devices = static_cast<cl_uint>(matching.size());
    }
    for (std::size_t i = 0; devices != nullptr && i < std::min<std::size_t>(num_entries, matching.size()); ++i) {
      devices[i] = matching[i]->handle();
    }
    return found;
  });
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info param_name, size_t param_value_size, void* param_value,
                                   size_t* param_value_size_ret) {
  return with_object<Device>(Entry::clGetDeviceInfo, device, CL_INVALID_DEVICE, [&](Device& object) -> cl_int {
    return device_info(object, param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int CL_API_CALL clCreateSubDevices(cl_device_id in_device, const cl_device_partition_property*, cl_uint, cl_device_id*, cl_uint*) {
  // No device supports any kind of partition, and properties that a device does not support are CL_INVALID_VALUE.
  return guard(Entry::clCreateSubDevices,
               [&]() -> cl_int { return Device::from(in_device) != nullptr ? CL_INVALID_VALUE : CL_INVALID_DEVICE; });
}

cl_int CL_API_CALL clRetainDevice(cl_device_id device) { return root_device(Entry::clRetainDevice, device); }
cl_int CL_API_CALL clReleaseDevice(cl_device_id device) { return root_device(Entry::clReleaseDevice, device); }
cl_int CL_API_CALL clRetainDeviceEXT(cl_device_id device) { return root_device(Entry::clRetainDeviceEXT, device); }
cl_int CL_API_CALL clReleaseDeviceEXT(cl_device_id device) { return root_device(Entry::clReleaseDeviceEXT, device); }

} // namespace entry
} // namespace farcl::driver
