// Command queues: making them, flushing and finishing. What goes into them is in enqueue_*.cpp.
#include "driver/objects/queue.hpp"
#include "driver/api/with_object.hpp"
#include "driver/session/session.hpp"
#include "driver/validate/lists.hpp"

namespace farcl::driver {
namespace {

/// CL_DEVICE_QUEUE_ON_HOST_PROPERTIES: this driver's queues can always do both.
constexpr cl_command_queue_properties kSupported = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

cl_command_queue_properties supported_by(const Device& device) { return device.number(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, kSupported); }

cl_int find_device(cl_context context, cl_device_id device, Context*& context_out, Device*& device_out) {
  context_out = Context::from(context);
  if (context_out == nullptr) {
    return CL_INVALID_CONTEXT;
  }
  device_out = Device::from(device);
  return device_out != nullptr && context_out->has_device(device_out) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

} // namespace

namespace entry {

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                                  cl_int* errcode_ret) {
  return guard_create(Entry::clCreateCommandQueue, errcode_ret, [&]() -> ApiResult<cl_command_queue> {
    Context* of = nullptr;
    Device* on = nullptr;
    if (const cl_int code = find_device(context, device, of, on); code != CL_SUCCESS) {
      return api_error(code);
    }
    if (const cl_int code = validate::queue_flags(properties, supported_by(*on)); code != CL_SUCCESS) {
      return api_error(code);
    }
    return CommandQueue::create(*of, *on, properties, std::vector<cl_queue_properties>())->handle();
  });
}

cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                const cl_queue_properties* properties, cl_int* errcode_ret) {
  return guard_create(Entry::clCreateCommandQueueWithProperties, errcode_ret, [&]() -> ApiResult<cl_command_queue> {
    Context* of = nullptr;
    Device* on = nullptr;
    if (const cl_int code = find_device(context, device, of, on); code != CL_SUCCESS) {
      return api_error(code);
    }
    std::vector<cl_queue_properties> copy;
    cl_command_queue_properties flags = 0;
    if (const cl_int code = validate::queue_properties(properties, supported_by(*on), copy, flags); code != CL_SUCCESS) {
      return api_error(code);
    }
    return CommandQueue::create(*of, *on, flags, std::move(copy))->handle();
  });
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue) {
  return retain_object<CommandQueue>(Entry::clRetainCommandQueue, queue, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue) {
  return with_object<CommandQueue>(Entry::clReleaseCommandQueue, queue, CL_INVALID_COMMAND_QUEUE, [&](CommandQueue& object) -> cl_int {
    const Ref<CommandQueue> kept(&object);
    if (!object.release_api()) {
      return CL_INVALID_COMMAND_QUEUE;
    }
    object.session().flush(); // an implicit clFlush, also when commands keep the queue alive
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clFlush(cl_command_queue queue) {
  return with_object<CommandQueue>(Entry::clFlush, queue, CL_INVALID_COMMAND_QUEUE, [&](CommandQueue& object) -> cl_int {
    object.session().flush();
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clFinish(cl_command_queue queue) {
  return guard(Entry::clFinish, [&]() -> cl_int {
    CommandQueue* object = CommandQueue::from(queue);
    return object != nullptr ? object->session().finish(*object) : CL_INVALID_COMMAND_QUEUE;
  });
}

} // namespace entry
} // namespace farcl::driver
