// A context over devices of one server. (Contexts over several servers will keep a list of sessions here; memory.hpp's residency
// is the seam for them.)
#pragma once

#include "driver/objects/device.hpp"
#include "driver/objects/handle.hpp"
#include "farcl/base/guarded.hpp"
#include "farcl/protocol/ids.hpp"

#include <string>
#include <vector>

namespace farcl::driver {

using ContextNotify = void(CL_CALLBACK*)(const char* errinfo, const void* private_info, size_t cb, void* user_data);

class Context : public Object<Context, _cl_context, 0x4641524c'43545854> {
public:
  using DestructorFunction = void(CL_CALLBACK*)(cl_context context, void* user_data);

  [[nodiscard]] ServerSession& session() const noexcept { return session_; }
  [[nodiscard]] protocol::ContextId id() const noexcept { return id_; }
  [[nodiscard]] const std::vector<Device*>& devices() const noexcept { return devices_; }
  [[nodiscard]] bool has_device(const Device* device) const noexcept;
  /// As given to clCreateContext, with the final 0; empty when it was null.
  [[nodiscard]] const std::vector<cl_context_properties>& properties() const noexcept { return properties_; }

  /// Gives `sentence` to the program's pfn_notify, if it has one, on the callback thread.
  void notify(std::string sentence);
  void add_destructor(DestructorFunction function, void* user_data);

private:
  friend class Object;
  /// Tells the server; 0 round trips.
  Context(ServerSession& session, std::vector<Device*> devices, std::vector<cl_context_properties> properties, ContextNotify pfn_notify,
          void* user_data);
  ~Context();

  struct Destructor {
    DestructorFunction function;
    void* user_data;
  };
  ServerSession& session_;
  const protocol::ContextId id_;
  const std::vector<Device*> devices_;
  const std::vector<cl_context_properties> properties_;
  const ContextNotify pfn_notify_;
  void* const user_data_;
  Guarded<std::vector<Destructor>> destructors_;
};

} // namespace farcl::driver
