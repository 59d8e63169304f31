#include "driver/validate/lists.hpp"

#include "driver/objects/platform.hpp"

#include <algorithm>

namespace farcl::driver::validate {

cl_int wait_list(const Context& context, cl_uint count, const cl_event* events) {
  if ((count == 0) != (events == nullptr)) {
    return CL_INVALID_EVENT_WAIT_LIST;
  }
  for (cl_uint i = 0; i < count; ++i) {
    const Event* event = Event::from(events[i]);
    if (event == nullptr) {
      return CL_INVALID_EVENT_WAIT_LIST;
    }
    if (&event->context() != &context) {
      return CL_INVALID_CONTEXT;
    }
  }
  return open_events(count, events);
}

cl_int open_events(cl_uint count, const cl_event* events) {
  if (count <= protocol::kMaxWaitListEvents) {
    return CL_SUCCESS;
  }
  const auto open = std::count_if(events, events + count, [](cl_event handle) { return Event::from(handle)->status() != CL_COMPLETE; });
  return static_cast<std::uint64_t>(open) <= protocol::kMaxWaitListEvents ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

cl_int event_list(cl_uint count, const cl_event* events) {
  if (count == 0 || events == nullptr) {
    return CL_INVALID_VALUE;
  }
  const Context* context = nullptr;
  for (cl_uint i = 0; i < count; ++i) {
    const Event* event = Event::from(events[i]);
    if (event == nullptr) {
      return CL_INVALID_EVENT;
    }
    if (context != nullptr && context != &event->context()) {
      return CL_INVALID_CONTEXT;
    }
    context = &event->context();
  }
  return CL_SUCCESS;
}

cl_int failed_events(cl_uint count, const cl_event* events) {
  bool failed = false;
  for (cl_uint i = 0; i < count; ++i) {
    if (Event* event = Event::from(events[i]); event != nullptr && event->status() < 0) {
      event->mark_seen(); // the code says so
      failed = true;
    }
  }
  return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

cl_int device_list(cl_uint count, const cl_device_id* devices, const std::vector<Device*>& among, std::vector<Device*>& chosen) {
  if ((count == 0) != (devices == nullptr)) {
    return CL_INVALID_VALUE;
  }
  chosen.clear();
  for (cl_uint i = 0; i < count; ++i) {
    Device* device = Device::from(devices[i]);
    if (device == nullptr || std::find(among.begin(), among.end(), device) == among.end()) {
      return CL_INVALID_DEVICE;
    }
    if (std::find(chosen.begin(), chosen.end(), device) == chosen.end()) {
      chosen.push_back(device);
    }
  }
  if (count == 0) {
    chosen = among;
  }
  return CL_SUCCESS;
}

cl_int context_devices(cl_uint count, const cl_device_id* devices, std::vector<Device*>& chosen) {
  if (count == 0 || devices == nullptr) {
    return CL_INVALID_VALUE;
  }
  chosen.clear();
  for (cl_uint i = 0; i < count; ++i) {
    Device* device = Device::from(devices[i]);
    if (device == nullptr || (!chosen.empty() && &device->session() != &chosen.front()->session())) {
      return CL_INVALID_DEVICE;
    }
    if (std::find(chosen.begin(), chosen.end(), device) == chosen.end()) {
      chosen.push_back(device);
    }
  }
  return CL_SUCCESS;
}

cl_int context_properties(const cl_context_properties* properties, std::vector<cl_context_properties>& copy) {
  copy.clear();
  if (properties == nullptr) {
    return CL_SUCCESS;
  }
  bool seen_platform = false;
  bool seen_sync = false;
  for (; properties[0] != 0; properties += 2) {
    switch (properties[0]) {
    case CL_CONTEXT_PLATFORM:
      if (seen_platform) {
        return CL_INVALID_PROPERTY;
      }
      if (Platform::from(reinterpret_cast<cl_platform_id>(properties[1])) == nullptr) {
        return CL_INVALID_PLATFORM;
      }
      seen_platform = true;
      break;
    case CL_CONTEXT_INTEROP_USER_SYNC:
      if (seen_sync || (properties[1] != CL_FALSE && properties[1] != CL_TRUE)) {
        return CL_INVALID_PROPERTY;
      }
      seen_sync = true;
      break;
    default: return CL_INVALID_PROPERTY;
    }
    copy.insert(copy.end(), {properties[0], properties[1]});
  }
  copy.push_back(0);
  return CL_SUCCESS;
}

cl_int queue_flags(cl_command_queue_properties flags, cl_command_queue_properties supported) {
  constexpr cl_command_queue_properties kHost = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
  constexpr cl_command_queue_properties kDevice = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
  if ((flags & ~(kHost | kDevice)) != 0) {
    return CL_INVALID_VALUE;
  }
  // A queue on the device is out of order, and the default one is on the device.
  if ((flags & CL_QUEUE_ON_DEVICE) != 0 && (flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0) {
    return CL_INVALID_VALUE;
  }
  if ((flags & CL_QUEUE_ON_DEVICE_DEFAULT) != 0 && (flags & CL_QUEUE_ON_DEVICE) == 0) {
    return CL_INVALID_VALUE;
  }
  return (flags & ~(supported & kHost)) == 0 ? CL_SUCCESS : CL_INVALID_QUEUE_PROPERTIES;
}

cl_int queue_properties(const cl_queue_properties* properties, cl_command_queue_properties supported,
                        std::vector<cl_queue_properties>& copy, cl_command_queue_properties& flags) {
  copy.clear();
  flags = 0;
  if (properties == nullptr) {
    return CL_SUCCESS;
  }
  bool seen_flags = false;
  bool wants_size = false;
  for (; properties[0] != 0; properties += 2) {
    if (properties[0] == CL_QUEUE_PROPERTIES && !seen_flags) {
      seen_flags = true;
      flags = properties[1];
    } else if (properties[0] == CL_QUEUE_SIZE && !wants_size) {
      wants_size = true;
    } else {
      return CL_INVALID_VALUE;
    }
    copy.insert(copy.end(), {properties[0], properties[1]});
  }
  copy.push_back(0);
  if (wants_size && (flags & CL_QUEUE_ON_DEVICE) == 0) { // only a queue on the device has a size
    return CL_INVALID_VALUE;
  }
  return queue_flags(flags, supported);
}

} // namespace farcl::driver::validate
