// Messages about the session itself and about objects that only need to exist: contexts, queues, user events.
#pragma once

#include "farcl/base/archive.hpp"
#include "farcl/protocol/frame.hpp"
#include "farcl/protocol/ids.hpp"
#include "farcl/protocol/limits.hpp"

#include <string>
#include <variant>
#include <vector>

namespace farcl::protocol {

/// One answer of clGetDeviceInfo. Numbers stand as 64 bits whatever the C type is; the driver's table gives them their type.
struct DeviceProperty {
  std::uint32_t name = 0; ///< cl_device_info
  std::variant<std::vector<std::uint64_t>, std::string> value;

  static constexpr auto fields() { return std::tuple(field("name", &DeviceProperty::name), field("value", &DeviceProperty::value)); }
};

struct DeviceInfo {
  std::string backend; ///< "cpu", "opencl", ...
  std::vector<DeviceProperty> properties;

  static constexpr auto fields() {
    return std::tuple(field("backend", &DeviceInfo::backend, 64), field("properties", &DeviceInfo::properties, kMaxDeviceProperties));
  }
};

/// Server to client, the first frame of a session: everything that queries need.
struct ServerInfo {
  static constexpr Opcode kOpcode = 16;
  std::string version; ///< of FarCL, "0.1.0"
  std::string host_name;
  bool insecure = false;      ///< listens beyond this machine without keys
  std::uint64_t clock_ns = 0; ///< the server's device clock when this was sent
  SessionLimits limits;
  std::vector<DeviceInfo> devices;

  static constexpr auto fields() {
    using T = ServerInfo;
    return std::tuple(field("version", &T::version, 64), field("host_name", &T::host_name, 256), field("insecure", &T::insecure),
                      field("clock_ns", &T::clock_ns), field("limits", &T::limits), field("devices", &T::devices, kMaxDevicesPerServer));
  }
};

/// Client to server: the session ends in an orderly way; the server frees everything at once.
struct Goodbye {
  static constexpr Opcode kOpcode = 17;
  static constexpr auto fields() { return std::tuple(); }
};

/// Client to server: the program is about to exit. Everything goes on as before, but once the connection has closed nobody will come
/// back, and the session ends at once.
struct Leaving {
  static constexpr Opcode kOpcode = 27;
  static constexpr auto fields() { return std::tuple(); }
};

/// Server to client: the session ends now, this is why. A protocol error or a limit that cannot be survived.
struct SessionFailed {
  static constexpr Opcode kOpcode = 18;
  std::string sentence;
  static constexpr auto fields() { return std::tuple(field("sentence", &SessionFailed::sentence, kMaxSentenceBytes)); }
};

struct CreateContext {
  static constexpr Opcode kOpcode = 19;
  ContextId context;
  std::vector<std::uint32_t> devices; ///< indices into ServerInfo::devices
  static constexpr auto fields() {
    return std::tuple(field("context", &CreateContext::context), field("devices", &CreateContext::devices, kMaxDevicesPerServer));
  }
};

struct CreateQueue {
  static constexpr Opcode kOpcode = 20;
  QueueId queue;
  ContextId context;
  std::uint32_t device = 0;
  bool out_of_order = false;
  bool profiling = false; ///< completions of this queue carry times
  static constexpr auto fields() {
    using T = CreateQueue;
    return std::tuple(field("queue", &T::queue), field("context", &T::context), field("device", &T::device),
                      field("out_of_order", &T::out_of_order), field("profiling", &T::profiling));
  }
};

/// The client has given up its last reference. Commands in flight keep what they use.
struct ReleaseObject {
  static constexpr Opcode kOpcode = 21;
  ObjectKind kind = ObjectKind::kContext;
  std::uint64_t id = 0;
  static constexpr auto fields() { return std::tuple(field("kind", &ReleaseObject::kind), field("id", &ReleaseObject::id)); }
};

/// The client will not name these events again.
struct ReleaseEvents {
  static constexpr Opcode kOpcode = 22;
  std::vector<EventId> events;
  static constexpr auto fields() { return std::tuple(field("events", &ReleaseEvents::events, kMaxEventsPerRelease)); }
};

struct CreateUserEvent {
  static constexpr Opcode kOpcode = 23;
  EventId event;
  static constexpr auto fields() { return std::tuple(field("event", &CreateUserEvent::event)); }
};

struct SetUserEventStatus {
  static constexpr Opcode kOpcode = 24;
  EventId event;
  std::int32_t status = 0; ///< CL_COMPLETE or a negative error
  static constexpr auto fields() {
    return std::tuple(field("event", &SetUserEventStatus::event), field("status", &SetUserEventStatus::status));
  }
};

/// Server to client: an object whose creation was pipelined could not be made; commands that use it fail with `status`.
struct ObjectFailed {
  static constexpr Opcode kOpcode = 25;
  ObjectKind kind = ObjectKind::kContext;
  std::uint64_t id = 0;
  std::int32_t status = 0;
  std::string sentence; ///< for the context's pfn_notify
  static constexpr auto fields() {
    using T = ObjectFailed;
    return std::tuple(field("kind", &T::kind), field("id", &T::id), field("status", &T::status),
                      field("sentence", &T::sentence, kMaxSentenceBytes));
  }
};

/// Server to client: what kernels printed, whole lines of one launch, in order.
struct PrintfOutput {
  static constexpr Opcode kOpcode = 26;
  ConstBytes text;
  static constexpr auto fields() { return std::tuple(field("text", &PrintfOutput::text, kMaxPrintfBytes)); }
};

} // namespace farcl::protocol
