// The one platform, "FarCL": the devices of all servers.
#pragma once

#include "driver/objects/handle.hpp"

#include <vector>

namespace farcl::driver {

class Device;

class Platform : public Object<Platform, _cl_platform_id, 0x4641524c'504c4154> {
public:
  /// In the order of POCL_REMOTE_SERVERS and of each server. Made once at the first platform query, then constant; they live for ever.
  [[nodiscard]] const std::vector<Device*>& devices() const noexcept { return devices_; }

private:
  friend class Object;
  friend class Runtime; // fills devices_ before anybody sees the platform
  Platform() = default;
  std::vector<Device*> devices_;
};

} // namespace farcl::driver
