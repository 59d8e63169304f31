// Kernels: made from what the build said, so nothing here waits for the server or tells it anything.
#include "driver/objects/kernel.hpp"
#include "driver/api/with_object.hpp"
#include "driver/objects/memory.hpp"
#include "driver/validate/kernel.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

namespace farcl::driver {
namespace {

/// Makes kernels of the program's executable (null: there is none) while no other build can begin: a kernel belongs to the build
/// whose description it has.
template <class Function>
auto with_executable(Program& program, Function&& function) {
  return program.build().with([&](const BuildState& build) { return function(build.info); });
}

cl_int set_buffer(Kernel& kernel, cl_uint index, cl_mem handle) {
  if (handle == nullptr) {
    kernel.set_buffer(index, protocol::BufferId{});
    return CL_SUCCESS;
  }
  Mem* memory = Mem::from(handle);
  if (memory == nullptr) {
    return CL_INVALID_MEM_OBJECT;
  }
  if (&memory->context() != &kernel.context()) {
    return CL_INVALID_CONTEXT;
  }
  kernel.set_buffer(index, memory->id());
  return CL_SUCCESS;
}

} // namespace

namespace entry {

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* kernel_name, cl_int* errcode_ret) {
  return guard_create(Entry::clCreateKernel, errcode_ret, [&]() -> ApiResult<cl_kernel> {
    Program* object = Program::from(program);
    if (object == nullptr) {
      return api_error(CL_INVALID_PROGRAM);
    }
    return with_executable(*object, [&](const std::shared_ptr<const ProgramInfo>& info) -> ApiResult<cl_kernel> {
      if (!info) {
        return api_error(CL_INVALID_PROGRAM_EXECUTABLE);
      }
      if (kernel_name == nullptr) {
        return api_error(CL_INVALID_VALUE);
      }
      const auto found = std::find_if(info->kernels.begin(), info->kernels.end(),
                                      [&](const KernelInfo& one) { return one.name == std::string_view(kernel_name); });
      if (found == info->kernels.end()) {
        return api_error(CL_INVALID_KERNEL_NAME);
      }
      return Kernel::create(*object, info, static_cast<std::uint32_t>(found - info->kernels.begin()))->handle();
    });
  });
}

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint num_kernels, cl_kernel* kernels, cl_uint* num_kernels_ret) {
  return guard(Entry::clCreateKernelsInProgram, [&]() -> cl_int {
    Program* object = Program::from(program);
    if (object == nullptr) {
      return CL_INVALID_PROGRAM;
    }
    return with_executable(*object, [&](const std::shared_ptr<const ProgramInfo>& info) -> cl_int {
      if (!info) {
        return CL_INVALID_PROGRAM_EXECUTABLE;
      }
      if (kernels != nullptr && num_kernels < info->kernels.size()) {
        return CL_INVALID_VALUE;
      }
      for (std::uint32_t i = 0; kernels != nullptr && i < info->kernels.size(); ++i) {
        kernels[i] = Kernel::create(*object, info, i)->handle();
      }
      if (num_kernels_ret != nullptr) {
        *num_kernels_ret = static_cast<cl_uint>(info->kernels.size());
      }
      return CL_SUCCESS;
    });
  });
}

cl_kernel CL_API_CALL clCloneKernel(cl_kernel source_kernel, cl_int* errcode_ret) {
  return guard_create(Entry::clCloneKernel, errcode_ret, [&]() -> ApiResult<cl_kernel> {
    const Kernel* source = Kernel::from(source_kernel);
    if (source == nullptr) {
      return api_error(CL_INVALID_KERNEL);
    }
    return Kernel::create(*source)->handle();
  });
}

cl_int CL_API_CALL clRetainKernel(cl_kernel kernel) { return retain_object<Kernel>(Entry::clRetainKernel, kernel, CL_INVALID_KERNEL); }

cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) { return release_object<Kernel>(Entry::clReleaseKernel, kernel, CL_INVALID_KERNEL); }

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size, const void* arg_value) {
  return guard(Entry::clSetKernelArg, [&]() -> cl_int {
    Kernel* object = Kernel::from(kernel);
    if (object == nullptr) {
      return CL_INVALID_KERNEL;
    }
    if (arg_index >= object->info().arguments.size()) {
      return CL_INVALID_ARG_INDEX;
    }
    validate::ArgumentValue value;
    if (const cl_int code = validate::kernel_argument(object->info().arguments[arg_index], arg_size, arg_value, value);
        code != CL_SUCCESS) {
      return code;
    }
    switch (value.kind) {
    case validate::ArgumentValue::Kind::kValue: object->set_value(arg_index, value.bytes); return CL_SUCCESS;
    case validate::ArgumentValue::Kind::kLocal: object->set_local(arg_index, value.local_bytes); return CL_SUCCESS;
    case validate::ArgumentValue::Kind::kBuffer: return set_buffer(*object, arg_index, value.buffer);
    }
    return CL_INVALID_ARG_VALUE;
  });
}

} // namespace entry
} // namespace farcl::driver
