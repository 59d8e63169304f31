// clEnqueueNDRangeKernel, clEnqueueTask, markers and barriers.
#include "driver/api/enqueue.hpp"
#include "driver/objects/kernel.hpp"
#include "driver/program/build.hpp"
#include "driver/validate/kernel.hpp"

namespace farcl::driver {
namespace {

struct Range {
  cl_uint work_dim;
  const std::size_t* offset;
  const std::size_t* global;
  const std::size_t* local;
};

cl_int enqueue_kernel(cl_command_queue queue_handle, cl_kernel kernel_handle, const Range& range, const EventParameters& events,
                      cl_command_type type) {
  CommandQueue* queue = CommandQueue::from(queue_handle);
  if (queue == nullptr) {
    return CL_INVALID_COMMAND_QUEUE;
  }
  const Kernel* kernel = Kernel::from(kernel_handle);
  if (kernel == nullptr) {
    return CL_INVALID_KERNEL;
  }
  if (&kernel->context() != &queue->context()) {
    return CL_INVALID_CONTEXT;
  }
  if (!is_built_for(kernel->program(), queue->device())) {
    return CL_INVALID_PROGRAM_EXECUTABLE;
  }
  if (!kernel->all_arguments_set()) {
    return CL_INVALID_KERNEL_ARGS;
  }
  validate::NdRange checked;
  const cl_int code = validate::nd_range(kernel->info(), queue->limits(), kernel->local_argument_bytes(), range.work_dim, range.offset,
                                         range.global, range.local, checked);
  if (code != CL_SUCCESS) {
    return code;
  }
  if (events.count != 0 || events.wait_list != nullptr) {
    if (const cl_int list_code = validate::wait_list(queue->context(), events.count, events.wait_list); list_code != CL_SUCCESS) {
      return list_code;
    }
  }
  if (checked.is_empty) {
    return submit_marker(*queue, false, events, type);
  }
  protocol::EnqueueKernel message;
  message.program = kernel->program().id();
  message.kernel_index = kernel->index();
  message.work_dim = static_cast<std::uint8_t>(checked.work_dim);
  message.global_offset = checked.global_offset;
  message.global_size = checked.global_size;
  message.local_size = checked.local_size;
  Event* made = nullptr;
  const cl_int submitted =
      queue->session().submit_kernel(*queue, message, *kernel, events.list(), type, events.event != nullptr ? &made : nullptr);
  if (events.event != nullptr && submitted == CL_SUCCESS) {
    *events.event = made->handle();
  }
  return submitted;
}

cl_int enqueue_marker(cl_command_queue queue_handle, bool barrier, const EventParameters& events, cl_command_type type) {
  CommandQueue* queue = CommandQueue::from(queue_handle);
  if (queue == nullptr) {
    return CL_INVALID_COMMAND_QUEUE;
  }
  if (const cl_int code = validate::wait_list(queue->context(), events.count, events.wait_list); code != CL_SUCCESS) {
    return code;
  }
  return submit_marker(*queue, barrier, events, type);
}

} // namespace

namespace entry {

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint work_dim, const size_t* offset,
                                          const size_t* global, const size_t* local, cl_uint count, const cl_event* wait_list,
                                          cl_event* event) {
  return guard(Entry::clEnqueueNDRangeKernel, [&] {
    return enqueue_kernel(queue, kernel, {work_dim, offset, global, local}, {count, wait_list, event}, CL_COMMAND_NDRANGE_KERNEL);
  });
}

cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueTask, [&] {
    constexpr std::size_t kOne = 1;
    return enqueue_kernel(queue, kernel, {1, nullptr, &kOne, &kOne}, {count, wait_list, event}, CL_COMMAND_TASK);
  });
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueMarkerWithWaitList,
               [&] { return enqueue_marker(queue, false, {count, wait_list, event}, CL_COMMAND_MARKER); });
}

cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* wait_list, cl_event* event) {
  return guard(Entry::clEnqueueBarrierWithWaitList,
               [&] { return enqueue_marker(queue, true, {count, wait_list, event}, CL_COMMAND_BARRIER); });
}

cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event* event) {
  return guard(Entry::clEnqueueMarker, [&]() -> cl_int {
    if (CommandQueue::from(queue) == nullptr) {
      return CL_INVALID_COMMAND_QUEUE;
    }
    return event == nullptr ? CL_INVALID_VALUE : enqueue_marker(queue, false, {0, nullptr, event}, CL_COMMAND_MARKER);
  });
}

cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue) {
  return guard(Entry::clEnqueueBarrier, [&] { return enqueue_marker(queue, true, {}, CL_COMMAND_BARRIER); });
}

cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event* event_list) {
  return guard(Entry::clEnqueueWaitForEvents, [&]() -> cl_int {
    CommandQueue* object = CommandQueue::from(queue);
    if (object == nullptr) {
      return CL_INVALID_COMMAND_QUEUE;
    }
    if (const cl_int code = validate::event_list(count, event_list); code != CL_SUCCESS) {
      return code;
    }
    if (&Event::from(event_list[0])->context() != &object->context()) {
      return CL_INVALID_CONTEXT;
    }
    if (const cl_int code = validate::open_events(count, event_list); code != CL_SUCCESS) {
      return code;
    }
    return submit_marker(*object, true, {count, event_list, nullptr}, CL_COMMAND_BARRIER);
  });
}

} // namespace entry
} // namespace farcl::driver
