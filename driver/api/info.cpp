// The queries of contexts, queues, memory objects, events, programs and kernels: check the handle, answer from the tables of
// driver/info/.
#include "driver/info/info.hpp"
#include "driver/api/with_object.hpp"

#include <algorithm>
#include <vector>

namespace farcl::driver {
namespace {

Device* find(const std::vector<Device*>& devices, cl_device_id handle) {
  Device* device = Device::from(handle);
  return device != nullptr && std::find(devices.begin(), devices.end(), device) != devices.end() ? device : nullptr;
}

/// The parameters that all queries share.
struct Query {
  cl_uint name;
  std::size_t size;
  void* value;
  std::size_t* size_ret;
  [[nodiscard]] InfoSink sink() const { return {size, value, size_ret}; }
};

template <class T>
cl_int query(Entry entry, typename T::Handle handle, cl_int invalid_handle, cl_int (*answer)(T&, cl_uint, const InfoSink&),
             const Query& query) {
  return with_object<T>(entry, handle, invalid_handle, [&](T& object) { return answer(object, query.name, query.sink()); });
}

} // namespace

namespace entry {

cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info name, size_t size, void* value, size_t* size_ret) {
  return query<Context>(Entry::clGetContextInfo, context, CL_INVALID_CONTEXT, context_info, {name, size, value, size_ret});
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name, size_t size, void* value, size_t* size_ret) {
  return query<CommandQueue>(Entry::clGetCommandQueueInfo, queue, CL_INVALID_COMMAND_QUEUE, queue_info, {name, size, value, size_ret});
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem memory, cl_mem_info name, size_t size, void* value, size_t* size_ret) {
  return query<Mem>(Entry::clGetMemObjectInfo, memory, CL_INVALID_MEM_OBJECT, memory_info, {name, size, value, size_ret});
}

cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info name, size_t size, void* value, size_t* size_ret) {
  return query<Event>(Entry::clGetEventInfo, event, CL_INVALID_EVENT, event_info, {name, size, value, size_ret});
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size, void* value, size_t* size_ret) {
  return query<Event>(Entry::clGetEventProfilingInfo, event, CL_INVALID_EVENT, event_profiling_info, {name, size, value, size_ret});
}

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info name, size_t size, void* value, size_t* size_ret) {
  return query<Program>(Entry::clGetProgramInfo, program, CL_INVALID_PROGRAM, program_info, {name, size, value, size_ret});
}

cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t size, void* value, size_t* size_ret) {
  return query<Kernel>(Entry::clGetKernelInfo, kernel, CL_INVALID_KERNEL, kernel_info, {name, size, value, size_ret});
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info name, size_t size, void* value,
                                         size_t* size_ret) {
  return with_object<Program>(Entry::clGetProgramBuildInfo, program, CL_INVALID_PROGRAM, [&](Program& object) -> cl_int {
    Device* on = find(object.devices(), device);
    return on != nullptr ? program_build_info(object, *on, name, {size, value, size_ret}) : CL_INVALID_DEVICE;
  });
}

cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, size_t size, void* value,
                                      size_t* size_ret) {
  return with_object<Kernel>(Entry::clGetKernelArgInfo, kernel, CL_INVALID_KERNEL, [&](Kernel& object) -> cl_int {
    if (index >= object.info().arguments.size()) {
      return CL_INVALID_ARG_INDEX;
    }
    return kernel_argument_info(object.info().arguments[index], name, {size, value, size_ret});
  });
}

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name, size_t size, void* value,
                                            size_t* size_ret) {
  return with_object<Kernel>(Entry::clGetKernelWorkGroupInfo, kernel, CL_INVALID_KERNEL, [&](Kernel& object) -> cl_int {
    // Without a device it is the only one.
    const auto& devices = object.program().devices();
    Device* on = device == nullptr && devices.size() == 1 ? devices.front() : find(devices, device);
    return on != nullptr ? kernel_work_group_info(object, *on, name, {size, value, size_ret}) : CL_INVALID_DEVICE;
  });
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint num_entries,
                                              cl_image_format* formats, cl_uint* num_formats) {
  return guard(Entry::clGetSupportedImageFormats, [&]() -> cl_int {
    constexpr cl_mem_flags kKnown = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR |
                                    CL_MEM_COPY_HOST_PTR | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS |
                                    CL_MEM_KERNEL_READ_AND_WRITE;
    if (Context::from(context) == nullptr) {
      return CL_INVALID_CONTEXT;
    }
    const bool is_image = type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
    if ((flags & ~kKnown) != 0 || !is_image || (num_entries == 0 && formats != nullptr)) {
      return CL_INVALID_VALUE;
    }
    if (num_formats != nullptr) { // no device supports images yet
      *num_formats = 0;
    }
    return CL_SUCCESS;
  });
}

} // namespace entry
} // namespace farcl::driver
