// Checks of the lists that calls take: events, devices, properties. They look at handles, so they see objects, but change none.
#pragma once

#include "driver/objects/context.hpp"
#include "driver/objects/device.hpp"
#include "driver/objects/event.hpp"

#include <vector>

namespace farcl::driver::validate {

/// A command's wait list: CL_INVALID_EVENT_WAIT_LIST or CL_INVALID_CONTEXT, or as open_events says. Call it where the specification
/// lists that code, last.
[[nodiscard]] cl_int wait_list(const Context& context, cl_uint count, const cl_event* events);
/// CL_OUT_OF_RESOURCES when more events of a valid list are open than one message can name (kMaxWaitListEvents).
[[nodiscard]] cl_int open_events(cl_uint count, const cl_event* events);
/// clWaitForEvents: CL_INVALID_VALUE, CL_INVALID_EVENT or CL_INVALID_CONTEXT.
[[nodiscard]] cl_int event_list(cl_uint count, const cl_event* events);
/// A blocking command whose wait list has failed already: CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST. The list is valid.
[[nodiscard]] cl_int failed_events(cl_uint count, const cl_event* events);

/// The devices of a call whose list may be null (all of `among`): CL_INVALID_VALUE or CL_INVALID_DEVICE.
[[nodiscard]] cl_int device_list(cl_uint count, const cl_device_id* devices, const std::vector<Device*>& among,
                                 std::vector<Device*>& chosen);
/// clCreateContext: the list must be there; devices of several servers are CL_INVALID_DEVICE until contexts can span servers.
/// Duplicates are dropped, as the specification says.
[[nodiscard]] cl_int context_devices(cl_uint count, const cl_device_id* devices, std::vector<Device*>& chosen);

/// CL_INVALID_PLATFORM or CL_INVALID_PROPERTY; `copy` gets the list with its final 0, or nothing when it was null.
[[nodiscard]] cl_int context_properties(const cl_context_properties* properties, std::vector<cl_context_properties>& copy);

/// clCreateCommandQueueWithProperties: CL_INVALID_VALUE or CL_INVALID_QUEUE_PROPERTIES; `copy` as above, `flags` the value of
/// CL_QUEUE_PROPERTIES. `supported`: CL_DEVICE_QUEUE_ON_HOST_PROPERTIES of the device.
[[nodiscard]] cl_int queue_properties(const cl_queue_properties* properties, cl_command_queue_properties supported,
                                      std::vector<cl_queue_properties>& copy, cl_command_queue_properties& flags);
/// clCreateCommandQueue.
[[nodiscard]] cl_int queue_flags(cl_command_queue_properties flags, cl_command_queue_properties supported);

/// A callback and its user data: without a function there can be no data (CL_INVALID_VALUE).
template <class Function>
[[nodiscard]] cl_int callback(Function function, const void* user_data) {
  return function == nullptr && user_data != nullptr ? CL_INVALID_VALUE : CL_SUCCESS;
}

} // namespace farcl::driver::validate
