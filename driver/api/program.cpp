// Programs: made here, built on the server.
#include "driver/objects/program.hpp"
#include "driver/api/with_object.hpp"
#include "driver/program/build.hpp"
#include "driver/program/program_binary.hpp"
#include "driver/validate/lists.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace farcl::driver {
namespace {

using protocol::BuildStage;

ConstBytes binary_at(const unsigned char* bytes, std::size_t length) { return {reinterpret_cast<const std::byte*>(bytes), length}; }

bool any_lacks(const std::vector<Device*>& devices, cl_device_info feature) {
  return std::any_of(devices.begin(), devices.end(), [&](const Device* device) { return device->number(feature, CL_TRUE) == CL_FALSE; });
}

/// The checks that clBuildProgram and clCompileProgram share, in their order; `job` gets its devices.
cl_int check_build(Program& program, cl_uint num_devices, const cl_device_id* device_list, BuildJob& job) {
  if (const cl_int code = validate::callback(job.pfn_notify, job.user_data); code != CL_SUCCESS) {
    return code;
  }
  return validate::device_list(num_devices, device_list, program.devices(), job.devices);
}

cl_int run_build(Program& program, BuildJob job) {
  if (const cl_int code = begin_build(program, job); code != CL_SUCCESS) {
    return code;
  }
  return build(program, std::move(job));
}

/// clCompileProgram's headers: programs with source, under the names that the including source uses.
cl_int embedded_headers(const Program& program, cl_uint count, const cl_program* headers, const char** names, BuildJob& job) {
  if ((count == 0) != (headers == nullptr) || (count == 0) != (names == nullptr)) {
    return CL_INVALID_VALUE;
  }
  for (cl_uint i = 0; i < count; ++i) {
    const Program* header = Program::from(headers[i]);
    if (header == nullptr) {
      return CL_INVALID_PROGRAM;
    }
    if (&header->context() != &program.context()) {
      return CL_INVALID_CONTEXT;
    }
    if (names[i] == nullptr) {
      return CL_INVALID_VALUE;
    }
    job.embedded_headers.push_back({names[i], header->source()});
  }
  return CL_SUCCESS;
}

} // namespace

namespace entry {

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings, const size_t* lengths,
                                                 cl_int* errcode_ret) {
  return guard_create(Entry::clCreateProgramWithSource, errcode_ret, [&]() -> ApiResult<cl_program> {
    Context* object = Context::from(context);
    if (object == nullptr) {
      return api_error(CL_INVALID_CONTEXT);
    }
    if (count == 0 || strings == nullptr || std::find(strings, strings + count, nullptr) != strings + count) {
      return api_error(CL_INVALID_VALUE);
    }
    std::string source;
    for (cl_uint i = 0; i < count; ++i) {
      source.append(strings[i], lengths != nullptr && lengths[i] != 0 ? lengths[i] : std::strlen(strings[i]));
    }
    return Program::create(*object, object->devices(), ProgramKind::kSource, std::move(source), ByteVector{})->handle();
  });
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint num_devices, const cl_device_id* device_list,
                                                 const size_t* lengths, const unsigned char** binaries, cl_int* binary_status,
                                                 cl_int* errcode_ret) {
  return guard_create(Entry::clCreateProgramWithBinary, errcode_ret, [&]() -> ApiResult<cl_program> {
    Context* object = Context::from(context);
    if (object == nullptr) {
      return api_error(CL_INVALID_CONTEXT);
    }
    if (num_devices == 0 || device_list == nullptr) {
      return api_error(CL_INVALID_VALUE);
    }
    std::vector<Device*> devices;
    if (const cl_int code = validate::device_list(num_devices, device_list, object->devices(), devices); code != CL_SUCCESS) {
      return api_error(code);
    }
    if (lengths == nullptr || binaries == nullptr) {
      return api_error(CL_INVALID_VALUE);
    }
    cl_int worst = CL_SUCCESS;
    ParsedProgramBinary first;
    for (cl_uint i = 0; i < num_devices; ++i) {
      cl_int status = CL_SUCCESS;
      if (lengths[i] == 0 || binaries[i] == nullptr) {
        status = CL_INVALID_VALUE;
      } else if (const auto parsed = parse_program_binary(binary_at(binaries[i], lengths[i])); !parsed) {
        status = CL_INVALID_BINARY;
      } else if (first.payload.empty()) {
        first = *parsed;
      } else if (!std::equal(first.payload.begin(), first.payload.end(), parsed->payload.begin(), parsed->payload.end())) {
        status = CL_INVALID_BINARY; // the devices of one server share a program's binary
      }
      if (binary_status != nullptr) {
        binary_status[i] = status;
      }
      worst = worst == CL_SUCCESS ? status : worst;
    }
    if (worst != CL_SUCCESS) {
      return api_error(worst);
    }
    Program* program =
        Program::create(*object, devices, ProgramKind::kBinary, std::string(), ByteVector(first.payload.begin(), first.payload.end()));
    program->build().with([&](BuildState& build) {
      build.devices = devices;
      build.binary_type = first.type;
    });
    return program->handle();
  });
}

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint num_devices, const cl_device_id* device_list,
                                                         const char* kernel_names, cl_int* errcode_ret) {
  return guard_create(Entry::clCreateProgramWithBuiltInKernels, errcode_ret, [&]() -> ApiResult<cl_program> {
    const Context* object = Context::from(context);
    if (object == nullptr) {
      return api_error(CL_INVALID_CONTEXT);
    }
    if (num_devices == 0 || device_list == nullptr || kernel_names == nullptr) {
      return api_error(CL_INVALID_VALUE);
    }
    std::vector<Device*> devices;
    if (const cl_int code = validate::device_list(num_devices, device_list, object->devices(), devices); code != CL_SUCCESS) {
      return api_error(code);
    }
    return api_error(CL_INVALID_VALUE); // no device has built-in kernels yet, so no name is known
  });
}

cl_int CL_API_CALL clRetainProgram(cl_program program) {
  return retain_object<Program>(Entry::clRetainProgram, program, CL_INVALID_PROGRAM);
}

cl_int CL_API_CALL clReleaseProgram(cl_program program) {
  return release_object<Program>(Entry::clReleaseProgram, program, CL_INVALID_PROGRAM);
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list, const char* options,
                                  void(CL_CALLBACK* pfn_notify)(cl_program, void*), void* user_data) {
  return guard(Entry::clBuildProgram, [&]() -> cl_int {
    Program* object = Program::from(program);
    if (object == nullptr) {
      return CL_INVALID_PROGRAM;
    }
    BuildJob job{
        .stage = BuildStage::kBuild, .options = options != nullptr ? options : "", .pfn_notify = pfn_notify, .user_data = user_data};
    if (const cl_int code = check_build(*object, num_devices, device_list, job); code != CL_SUCCESS) {
      return code;
    }
    if (object->kind() == ProgramKind::kLinked) {
      return CL_INVALID_OPERATION;
    }
    if (object->kind() == ProgramKind::kSource && any_lacks(job.devices, CL_DEVICE_COMPILER_AVAILABLE)) {
      return CL_COMPILER_NOT_AVAILABLE;
    }
    return run_build(*object, std::move(job));
  });
}

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list, const char* options,
                                    cl_uint num_input_headers, const cl_program* input_headers, const char** header_include_names,
                                    void(CL_CALLBACK* pfn_notify)(cl_program, void*), void* user_data) {
  return guard(Entry::clCompileProgram, [&]() -> cl_int {
    Program* object = Program::from(program);
    if (object == nullptr) {
      return CL_INVALID_PROGRAM;
    }
    BuildJob job{
        .stage = BuildStage::kCompile, .options = options != nullptr ? options : "", .pfn_notify = pfn_notify, .user_data = user_data};
    if (const cl_int code = embedded_headers(*object, num_input_headers, input_headers, header_include_names, job); code != CL_SUCCESS) {
      return code;
    }
    if (const cl_int code = check_build(*object, num_devices, device_list, job); code != CL_SUCCESS) {
      return code;
    }
    if (object->kind() != ProgramKind::kSource) {
      return CL_INVALID_OPERATION;
    }
    if (any_lacks(job.devices, CL_DEVICE_COMPILER_AVAILABLE)) {
      return CL_COMPILER_NOT_AVAILABLE;
    }
    return run_build(*object, std::move(job));
  });
}

} // namespace entry

namespace {

/// clLinkProgram's inputs: compiled objects and libraries of the same context.
cl_int link_inputs(const Context& context, cl_uint count, const cl_program* programs, BuildJob& job) {
  if (count == 0 || programs == nullptr) {
    return CL_INVALID_VALUE;
  }
  for (cl_uint i = 0; i < count; ++i) {
    Program* input = Program::from(programs[i]);
    if (input == nullptr) {
      return CL_INVALID_PROGRAM;
    }
    if (&input->context() != &context) {
      return CL_INVALID_CONTEXT;
    }
    job.inputs.emplace_back(input);
  }
  return CL_SUCCESS;
}

bool can_be_linked(const Ref<Program>& input) {
  return input->build().with([](const BuildState& build) {
    return build.status != CL_BUILD_IN_PROGRESS &&
           (build.binary_type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT || build.binary_type == CL_PROGRAM_BINARY_TYPE_LIBRARY);
  });
}

struct LinkCall {
  cl_context context;
  cl_uint num_devices;
  const cl_device_id* device_list;
  const char* options;
  cl_uint num_input_programs;
  const cl_program* input_programs;
};

/// `linked` is set also when linking fails: its build log says why.
cl_int link(const LinkCall& call, BuildJob job, cl_program& linked) {
  Context* context = Context::from(call.context);
  if (context == nullptr) {
    return CL_INVALID_CONTEXT;
  }
  if (const cl_int code = link_inputs(*context, call.num_input_programs, call.input_programs, job); code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = validate::callback(job.pfn_notify, job.user_data); code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = validate::device_list(call.num_devices, call.device_list, context->devices(), job.devices); code != CL_SUCCESS) {
    return code;
  }
  if (!std::all_of(job.inputs.begin(), job.inputs.end(), can_be_linked)) {
    return CL_INVALID_OPERATION;
  }
  if (any_lacks(job.devices, CL_DEVICE_LINKER_AVAILABLE)) {
    return CL_LINKER_NOT_AVAILABLE;
  }
  job.options = call.options != nullptr ? call.options : "";
  Program* program = Program::create(*context, job.devices, ProgramKind::kLinked, std::string(), ByteVector{});
  const cl_int code = run_build(*program, std::move(job));
  if (code == CL_SUCCESS || code == CL_LINK_PROGRAM_FAILURE) {
    linked = program->handle();
  } else {
    (void)program->release_api(); // the program never saw it
  }
  return code;
}

} // namespace

namespace entry {

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint num_devices, const cl_device_id* device_list, const char* options,
                                     cl_uint num_input_programs, const cl_program* input_programs,
                                     void(CL_CALLBACK* pfn_notify)(cl_program, void*), void* user_data, cl_int* errcode_ret) {
  cl_program linked = nullptr;
  const cl_int code = guard(Entry::clLinkProgram, [&]() -> cl_int {
    BuildJob job{.stage = BuildStage::kLink, .pfn_notify = pfn_notify, .user_data = user_data};
    return link({context, num_devices, device_list, options, num_input_programs, input_programs}, std::move(job), linked);
  });
  if (errcode_ret != nullptr) {
    *errcode_ret = code;
  }
  return linked;
}

} // namespace entry
} // namespace farcl::driver
