// A device of a server. Constant after the handshake; lives for ever.
#pragma once

#include "driver/objects/handle.hpp"
#include "farcl/protocol/message_list.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace farcl::driver {

class Platform;
class ServerSession;

class Device : public Object<Device, _cl_device_id, 0x4641524c'44455649> {
public:
  [[nodiscard]] Platform& platform() const noexcept { return platform_; }
  [[nodiscard]] ServerSession& session() const noexcept { return session_; }
  /// Position in the server's list: what messages name it by.
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  [[nodiscard]] const std::string& backend() const noexcept { return backend_; }
  /// What is appended to CL_DEVICE_NAME: " @ gpubox" where the program could not tell devices apart or think them local otherwise.
  [[nodiscard]] const std::string& name_suffix() const noexcept { return name_suffix_; }

  using Value = std::variant<std::vector<std::uint64_t>, std::string>;
  /// What the server said about a cl_device_info; null when it said nothing.
  [[nodiscard]] const Value* property(cl_device_info name) const noexcept;
  /// The single number of a property, or `otherwise` when the server did not say.
  [[nodiscard]] std::uint64_t number(cl_device_info name, std::uint64_t otherwise = 0) const noexcept;
  [[nodiscard]] std::string_view text(cl_device_info name) const noexcept;

private:
  friend class Object;
  Device(Platform& platform, ServerSession& session, std::uint32_t index, const protocol::DeviceInfo& info, std::string name_suffix);

  Platform& platform_;
  ServerSession& session_;
  std::uint32_t index_;
  std::string backend_;
  std::string name_suffix_;
  std::unordered_map<cl_device_info, Value> properties_;
};

} // namespace farcl::driver
