#include "driver/objects/device.hpp"

namespace farcl::driver {

Device::Device(Platform& platform, ServerSession& session, std::uint32_t index, const protocol::DeviceInfo& info, std::string name_suffix)
    : platform_(platform), session_(session), index_(index), backend_(info.backend), name_suffix_(std::move(name_suffix)) {
  for (const protocol::DeviceProperty& property : info.properties) {
    properties_.insert_or_assign(property.name, property.value);
  }
}

const Device::Value* Device::property(cl_device_info name) const noexcept {
  const auto found = properties_.find(name);
  return found == properties_.end() ? nullptr : &found->second;
}

std::uint64_t Device::number(cl_device_info name, std::uint64_t otherwise) const noexcept {
  const Value* value = property(name);
  const auto* numbers = value == nullptr ? nullptr : std::get_if<std::vector<std::uint64_t>>(value);
  return numbers == nullptr || numbers->empty() ? otherwise : numbers->front();
}

std::string_view Device::text(cl_device_info name) const noexcept {
  const Value* value = property(name);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

} // namespace farcl::driver
