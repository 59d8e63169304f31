// Programs and kernels.
#include "tests/driver_api/bench.hpp"

#include "driver/program/program_binary.hpp"

namespace farcl::test {
namespace {

const char* const kSource = "kernel void simple() {}";

using Binary = std::vector<unsigned char>;
Binary good_binary() {
  const ByteVector bytes = driver::make_program_binary(CL_PROGRAM_BINARY_TYPE_EXECUTABLE, ByteVector(10, std::byte{1}));
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  return {data, data + bytes.size()};
}
cl_program from_binary(cl_context context, cl_device_id device, const Binary& binary, cl_int* status, cl_int* e) {
  const unsigned char* data = binary.data();
  const std::size_t size = binary.size();
  return api.clCreateProgramWithBinary(context, 1, &device, &size, &data, status, e);
}

cl_int build(cl_program program) { return api.clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr); }
cl_int compile(cl_program program) { return api.clCompileProgram(program, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr); }
cl_program link(cl_context context, cl_program input, cl_int* e) {
  return api.clLinkProgram(context, 0, nullptr, nullptr, 1, &input, nullptr, nullptr, e);
}

} // namespace

ROW(clCreateProgramWithSource, CL_INVALID_CONTEXT) {
  const char* source = kSource;
  for (auto handle : b.bad<cl_context>()) {
    b.expect_made([&](cl_int* e) { return api.clCreateProgramWithSource(handle, 1, &source, nullptr, e); });
  }
}
ROW(clCreateProgramWithSource, CL_INVALID_VALUE) {
  const char* sources[] = {kSource, nullptr};
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithSource(b.context, 0, sources, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithSource(b.context, 1, nullptr, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithSource(b.context, 2, sources, nullptr, e); });
}

ROW(clCreateProgramWithBinary, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect_made([&](cl_int* e) { return from_binary(handle, b.devices[0], good_binary(), nullptr, e); });
  }
}
ROW(clCreateProgramWithBinary, CL_INVALID_VALUE) {
  const Binary binary = good_binary();
  const unsigned char* data = binary.data();
  const unsigned char* nothing = nullptr;
  const std::size_t size = binary.size();
  const std::size_t zero = 0;
  const cl_device_id* devices = b.devices.data();
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBinary(b.context, 0, devices, &size, &data, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBinary(b.context, 1, nullptr, &size, &data, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBinary(b.context, 1, devices, nullptr, &data, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBinary(b.context, 1, devices, &size, nullptr, nullptr, e); });
  cl_int status = 1;
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBinary(b.context, 1, devices, &zero, &data, &status, e); });
  EXPECT_EQ(status, CL_INVALID_VALUE);
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBinary(b.context, 1, devices, &size, &nothing, &status, e); });
}
ROW(clCreateProgramWithBinary, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect_made([&](cl_int* e) { return from_binary(b.context, handle, good_binary(), nullptr, e); });
  }
  b.expect_made([&](cl_int* e) { return from_binary(b.other_context, b.devices[kOdd], good_binary(), nullptr, e); });
}
ROW(clCreateProgramWithBinary, CL_INVALID_BINARY) {
  Binary foreign = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  Binary other_version = good_binary();
  other_version[8] = 99;
  Binary no_type = good_binary();
  no_type[12] = 77;
  Binary only_header = good_binary();
  only_header.resize(driver::kProgramBinaryHeaderBytes);
  for (const Binary& binary : {foreign, other_version, no_type, only_header, Binary{'F'}}) {
    cl_int status = 1;
    b.expect_made([&](cl_int* e) { return from_binary(b.context, b.devices[0], binary, &status, e); });
    EXPECT_EQ(status, CL_INVALID_BINARY);
  }
}

ROW(clCreateProgramWithBuiltInKernels, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBuiltInKernels(handle, 1, b.devices.data(), "k", e); });
  }
}
ROW(clCreateProgramWithBuiltInKernels, CL_INVALID_VALUE) {
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBuiltInKernels(b.context, 0, b.devices.data(), "k", e); });
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBuiltInKernels(b.context, 1, nullptr, "k", e); });
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBuiltInKernels(b.context, 1, b.devices.data(), nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBuiltInKernels(b.context, 1, b.devices.data(), "unknown", e); });
}
ROW(clCreateProgramWithBuiltInKernels, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect_made([&](cl_int* e) { return api.clCreateProgramWithBuiltInKernels(b.context, 1, &handle, "k", e); });
  }
}

ROW(clRetainProgram, CL_INVALID_PROGRAM) {
  for (auto handle : b.bad<cl_program>()) {
    b.expect(api.clRetainProgram(handle));
  }
}
ROW(clReleaseProgram, CL_INVALID_PROGRAM) {
  for (auto handle : b.bad<cl_program>()) {
    b.expect(api.clReleaseProgram(handle));
  }
}

// --- Builds -----------------------------------------------------------------------------------------------------------------

ROW(clBuildProgram, CL_INVALID_PROGRAM) {
  for (auto handle : b.bad<cl_program>()) {
    b.expect(build(handle));
  }
}
ROW(clBuildProgram, CL_INVALID_VALUE) {
  int data = 0;
  cl_program program = b.source_program();
  b.expect(api.clBuildProgram(program, 1, nullptr, nullptr, nullptr, nullptr));
  b.expect(api.clBuildProgram(program, 0, b.devices.data(), nullptr, nullptr, nullptr));
  b.expect(api.clBuildProgram(program, 0, nullptr, nullptr, nullptr, &data));
}
ROW(clBuildProgram, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect(api.clBuildProgram(b.source_program(), 1, &handle, nullptr, nullptr, nullptr));
  }
  b.expect(api.clBuildProgram(b.source_program(), 1, &b.devices[kOdd], nullptr, nullptr, nullptr));
}
ROW(clBuildProgram, CL_INVALID_BINARY) {
  b.builds_say(CL_INVALID_BINARY);
  b.expect(build(b.binary_program()));
}
ROW(clBuildProgram, CL_INVALID_BUILD_OPTIONS) {
  b.builds_say(CL_INVALID_BUILD_OPTIONS);
  b.expect(api.clBuildProgram(b.source_program(), 0, nullptr, "-no-such-option", nullptr, nullptr));
}
ROW(clBuildProgram, CL_INVALID_OPERATION) {
  cl_program program = b.built_program();
  cl_kernel kernel = api.clCreateKernel(program, "simple", nullptr);
  b.expect(build(program)); // a kernel is attached
  EXPECT_EQ(api.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(build(program), CL_SUCCESS);
  cl_program linked = link(b.other_context, b.compiled_program(), nullptr);
  b.expect(build(linked)); // not made from source or a binary
  EXPECT_EQ(api.clReleaseProgram(linked), CL_SUCCESS);
}
ROW(clBuildProgram, CL_COMPILER_NOT_AVAILABLE) {
  b.expect(api.clBuildProgram(b.source_program(b.context), 1, &b.devices[kNoCompiler], nullptr, nullptr, nullptr));
}
ROW(clBuildProgram, CL_BUILD_PROGRAM_FAILURE) {
  b.builds_say(CL_BUILD_PROGRAM_FAILURE);
  cl_program program = b.source_program();
  b.expect(build(program));
  cl_build_status status = CL_BUILD_NONE;
  EXPECT_EQ(api.clGetProgramBuildInfo(program, b.devices[0], CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr), CL_SUCCESS);
  EXPECT_EQ(status, CL_BUILD_ERROR);
}
ROW(clBuildProgram, CL_OUT_OF_RESOURCES) {
  b.builds_say(-12345); // a code that no build has: what the server says is not passed on unseen
  b.expect(build(b.source_program()));
}

ROW(clCompileProgram, CL_INVALID_PROGRAM) {
  for (auto handle : b.bad<cl_program>()) {
    b.expect(compile(handle));
    const char* name = "a.h";
    b.expect(api.clCompileProgram(b.source_program(), 0, nullptr, nullptr, 1, &handle, &name, nullptr, nullptr));
  }
}
ROW(clCompileProgram, CL_INVALID_CONTEXT) {
  cl_program header = b.source_program(b.context);
  const char* name = "a.h";
  b.expect(api.clCompileProgram(b.source_program(), 0, nullptr, nullptr, 1, &header, &name, nullptr, nullptr));
}
ROW(clCompileProgram, CL_INVALID_VALUE) {
  int data = 0;
  cl_program program = b.source_program();
  cl_program header = b.source_program();
  const char* name = "a.h";
  const char* no_name = nullptr;
  b.expect(api.clCompileProgram(program, 1, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr));
  b.expect(api.clCompileProgram(program, 0, b.devices.data(), nullptr, 0, nullptr, nullptr, nullptr, nullptr));
  b.expect(api.clCompileProgram(program, 0, nullptr, nullptr, 0, &header, nullptr, nullptr, nullptr));
  b.expect(api.clCompileProgram(program, 0, nullptr, nullptr, 0, nullptr, &name, nullptr, nullptr));
  b.expect(api.clCompileProgram(program, 0, nullptr, nullptr, 1, &header, nullptr, nullptr, nullptr));
  b.expect(api.clCompileProgram(program, 0, nullptr, nullptr, 1, nullptr, &name, nullptr, nullptr));
  b.expect(api.clCompileProgram(program, 0, nullptr, nullptr, 1, &header, &no_name, nullptr, nullptr));
  b.expect(api.clCompileProgram(program, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, &data));
}
ROW(clCompileProgram, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect(api.clCompileProgram(b.source_program(), 1, &handle, nullptr, 0, nullptr, nullptr, nullptr, nullptr));
  }
}
ROW(clCompileProgram, CL_INVALID_OPERATION) {
  b.expect(compile(b.binary_program()));
  cl_program program = b.built_program();
  cl_kernel kernel = api.clCreateKernel(program, "simple", nullptr);
  b.expect(compile(program));
  EXPECT_EQ(api.clReleaseKernel(kernel), CL_SUCCESS);
}
ROW(clCompileProgram, CL_COMPILER_NOT_AVAILABLE) {
  b.expect(api.clCompileProgram(b.source_program(b.context), 1, &b.devices[kNoCompiler], nullptr, 0, nullptr, nullptr, nullptr, nullptr));
}
ROW(clCompileProgram, CL_INVALID_COMPILER_OPTIONS) {
  b.builds_say(CL_INVALID_COMPILER_OPTIONS);
  b.expect(compile(b.source_program()));
}
ROW(clCompileProgram, CL_COMPILE_PROGRAM_FAILURE) {
  b.builds_say(CL_COMPILE_PROGRAM_FAILURE);
  b.expect(compile(b.source_program()));
}
ROW(clCompileProgram, CL_OUT_OF_RESOURCES) {
  b.builds_say(CL_BUILD_PROGRAM_FAILURE); // another stage's code
  b.expect(compile(b.source_program()));
}

ROW(clLinkProgram, CL_INVALID_CONTEXT) {
  cl_program input = b.compiled_program(b.context);
  for (auto handle : b.bad<cl_context>()) {
    b.expect_made([&](cl_int* e) { return link(handle, input, e); });
  }
  b.expect_made([&](cl_int* e) { return link(b.other_context, input, e); });
}
ROW(clLinkProgram, CL_INVALID_VALUE) {
  int data = 0;
  cl_program input = b.compiled_program();
  cl_context context = b.other_context;
  b.expect_made([&](cl_int* e) { return api.clLinkProgram(context, 0, nullptr, nullptr, 0, &input, nullptr, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clLinkProgram(context, 0, nullptr, nullptr, 1, nullptr, nullptr, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clLinkProgram(context, 1, nullptr, nullptr, 1, &input, nullptr, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clLinkProgram(context, 0, b.devices.data(), nullptr, 1, &input, nullptr, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clLinkProgram(context, 0, nullptr, nullptr, 1, &input, nullptr, &data, e); });
}
ROW(clLinkProgram, CL_INVALID_DEVICE) {
  cl_program input = b.compiled_program();
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect_made([&](cl_int* e) { return api.clLinkProgram(b.other_context, 1, &handle, nullptr, 1, &input, nullptr, nullptr, e); });
  }
}
ROW(clLinkProgram, CL_INVALID_PROGRAM) {
  for (auto handle : b.bad<cl_program>()) {
    b.expect_made([&](cl_int* e) { return link(b.other_context, handle, e); });
  }
}
ROW(clLinkProgram, CL_INVALID_OPERATION) {
  b.expect_made([&](cl_int* e) { return link(b.other_context, b.source_program(), e); }); // not compiled
  b.expect_made([&](cl_int* e) { return link(b.other_context, b.built_program(), e); });  // an executable
}
ROW(clLinkProgram, CL_LINKER_NOT_AVAILABLE) {
  cl_program input = b.compiled_program(b.context);
  b.expect_made(
      [&](cl_int* e) { return api.clLinkProgram(b.context, 1, &b.devices[kNoCompiler], nullptr, 1, &input, nullptr, nullptr, e); });
}
ROW(clLinkProgram, CL_INVALID_LINKER_OPTIONS) {
  cl_program input = b.compiled_program();
  b.builds_say(CL_INVALID_LINKER_OPTIONS);
  b.expect_made([&](cl_int* e) { return link(b.other_context, input, e); });
}
ROW(clLinkProgram, CL_LINK_PROGRAM_FAILURE) {
  cl_program input = b.compiled_program();
  for (const cl_int said : {CL_LINK_PROGRAM_FAILURE, CL_INVALID_BINARY}) {
    b.builds_say(said);
    cl_int code = 0;
    cl_program linked = link(b.other_context, input, &code);
    b.expect(code);
    ASSERT_NE(linked, nullptr); // so that its build log can be read
    std::size_t log_bytes = 0;
    EXPECT_EQ(api.clGetProgramBuildInfo(linked, b.devices[0], CL_PROGRAM_BUILD_LOG, 0, nullptr, &log_bytes), CL_SUCCESS);
    EXPECT_GT(log_bytes, 1u);
    EXPECT_EQ(api.clReleaseProgram(linked), CL_SUCCESS);
  }
}
ROW(clLinkProgram, CL_OUT_OF_RESOURCES) {
  cl_program input = b.compiled_program();
  b.builds_say(-12345);
  b.expect_made([&](cl_int* e) { return link(b.other_context, input, e); });
}

// --- Queries ----------------------------------------------------------------------------------------------------------------

ROW(clGetProgramInfo, CL_INVALID_PROGRAM) {
  for (auto handle : b.bad<cl_program>()) {
    b.expect(api.clGetProgramInfo(handle, CL_PROGRAM_SOURCE, 0, nullptr, nullptr));
  }
}
ROW(clGetProgramInfo, CL_INVALID_VALUE) {
  char small[2];
  cl_program program = b.built_program();
  b.expect(api.clGetProgramInfo(program, CL_KERNEL_CONTEXT, 0, nullptr, nullptr));
  for (const cl_program_info name : {CL_PROGRAM_SOURCE, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BINARIES, CL_PROGRAM_KERNEL_NAMES}) {
    b.expect(api.clGetProgramInfo(program, name, sizeof small, small, nullptr));
  }
}
ROW(clGetProgramInfo, CL_INVALID_PROGRAM_EXECUTABLE) {
  for (const cl_program_info name :
       {CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT}) {
    b.expect(api.clGetProgramInfo(b.source_program(), name, 0, nullptr, nullptr));
    b.expect(api.clGetProgramInfo(b.compiled_program(), name, 0, nullptr, nullptr));
  }
}
ROW(clGetProgramInfo, CL_OUT_OF_RESOURCES) {
  cl_program program = b.built_program();
  b.server.script().with([](Script& script) { script.binary.resize(50); }); // not what the build said
  std::vector<unsigned char> memory(4096);
  unsigned char* pointer = memory.data();
  b.expect(api.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr));
}

ROW(clGetProgramBuildInfo, CL_INVALID_PROGRAM) {
  for (auto handle : b.bad<cl_program>()) {
    b.expect(api.clGetProgramBuildInfo(handle, b.devices[0], CL_PROGRAM_BUILD_LOG, 0, nullptr, nullptr));
  }
}
ROW(clGetProgramBuildInfo, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect(api.clGetProgramBuildInfo(b.built_program(), handle, CL_PROGRAM_BUILD_LOG, 0, nullptr, nullptr));
  }
  b.expect(api.clGetProgramBuildInfo(b.built_program(), b.devices[kOdd], CL_PROGRAM_BUILD_LOG, 0, nullptr, nullptr));
}
ROW(clGetProgramBuildInfo, CL_INVALID_VALUE) {
  char small[1];
  b.expect(api.clGetProgramBuildInfo(b.built_program(), b.devices[0], CL_PROGRAM_SOURCE, 0, nullptr, nullptr));
  b.expect(api.clGetProgramBuildInfo(b.built_program(), b.devices[0], CL_PROGRAM_BUILD_STATUS, sizeof small, small, nullptr));
}

// --- Kernels ----------------------------------------------------------------------------------------------------------------

ROW(clCreateKernel, CL_INVALID_PROGRAM) {
  for (auto handle : b.bad<cl_program>()) {
    b.expect_made([&](cl_int* e) { return api.clCreateKernel(handle, "simple", e); });
  }
}
ROW(clCreateKernel, CL_INVALID_PROGRAM_EXECUTABLE) {
  b.expect_made([&](cl_int* e) { return api.clCreateKernel(b.source_program(), "simple", e); });
  b.expect_made([&](cl_int* e) { return api.clCreateKernel(b.compiled_program(), "simple", e); });
}
ROW(clCreateKernel, CL_INVALID_VALUE) {
  b.expect_made([&](cl_int* e) { return api.clCreateKernel(b.built_program(), nullptr, e); });
}
ROW(clCreateKernel, CL_INVALID_KERNEL_NAME) {
  b.expect_made([&](cl_int* e) { return api.clCreateKernel(b.built_program(), "simpl", e); });
  b.expect_made([&](cl_int* e) { return api.clCreateKernel(b.built_program(), "", e); });
}

ROW(clCreateKernelsInProgram, CL_INVALID_PROGRAM) {
  for (auto handle : b.bad<cl_program>()) {
    b.expect(api.clCreateKernelsInProgram(handle, 0, nullptr, nullptr));
  }
}
ROW(clCreateKernelsInProgram, CL_INVALID_PROGRAM_EXECUTABLE) {
  b.expect(api.clCreateKernelsInProgram(b.source_program(), 0, nullptr, nullptr));
}
ROW(clCreateKernelsInProgram, CL_INVALID_VALUE) {
  cl_kernel kernels[3] = {};
  b.expect(api.clCreateKernelsInProgram(b.built_program(), 2, kernels, nullptr));
}

ROW(clCloneKernel, CL_INVALID_KERNEL) {
  for (auto handle : b.bad<cl_kernel>()) {
    b.expect_made([&](cl_int* e) { return api.clCloneKernel(handle, e); });
  }
}
ROW(clRetainKernel, CL_INVALID_KERNEL) {
  for (auto handle : b.bad<cl_kernel>()) {
    b.expect(api.clRetainKernel(handle));
  }
}
ROW(clReleaseKernel, CL_INVALID_KERNEL) {
  for (auto handle : b.bad<cl_kernel>()) {
    b.expect(api.clReleaseKernel(handle));
  }
}

ROW(clSetKernelArg, CL_INVALID_KERNEL) {
  for (auto handle : b.bad<cl_kernel>()) {
    b.expect(api.clSetKernelArg(handle, 0, sizeof(cl_mem), nullptr));
  }
}
ROW(clSetKernelArg, CL_INVALID_ARG_INDEX) { b.expect(api.clSetKernelArg(b.kernel("all_kinds"), kArgumentCount, 4, nullptr)); }
ROW(clSetKernelArg, CL_INVALID_ARG_VALUE) {
  int value = 0;
  b.expect(api.clSetKernelArg(b.kernel("all_kinds"), kValueArgument, 16, nullptr));
  b.expect(api.clSetKernelArg(b.kernel("all_kinds"), kLocalArgument, sizeof value, &value));
}
ROW(clSetKernelArg, CL_INVALID_MEM_OBJECT) {
  cl_kernel kernel = b.kernel("all_kinds");
  for (auto handle : b.bad<cl_mem>()) {
    if (handle != nullptr) { // null is a null pointer in the kernel
      b.expect(api.clSetKernelArg(kernel, kGlobalArgument, sizeof handle, &handle));
    }
  }
  cl_mem buffer = b.buffer();
  b.expect(api.clSetKernelArg(kernel, kImageArgument, sizeof buffer, &buffer));
  cl_mem null = nullptr;
  EXPECT_EQ(api.clSetKernelArg(kernel, kGlobalArgument, sizeof null, &null), CL_SUCCESS);
  EXPECT_EQ(api.clSetKernelArg(kernel, kGlobalArgument, sizeof null, nullptr), CL_SUCCESS);
}
ROW(clSetKernelArg, CL_INVALID_CONTEXT) {
  cl_mem foreign = b.buffer_in(b.other_context);
  b.expect(api.clSetKernelArg(b.kernel("all_kinds"), kGlobalArgument, sizeof foreign, &foreign));
}
ROW(clSetKernelArg, CL_INVALID_SAMPLER) {
  cl_sampler sampler = nullptr;
  b.expect(api.clSetKernelArg(b.kernel("all_kinds"), kSamplerArgument, sizeof sampler, &sampler));
}
ROW(clSetKernelArg, CL_INVALID_ARG_SIZE) {
  cl_kernel kernel = b.kernel("all_kinds");
  const float value[8] = {};
  cl_mem buffer = b.buffer();
  b.expect(api.clSetKernelArg(kernel, kValueArgument, 12, value));
  b.expect(api.clSetKernelArg(kernel, kValueArgument, 32, value));
  b.expect(api.clSetKernelArg(kernel, kGlobalArgument, sizeof buffer - 1, &buffer));
  b.expect(api.clSetKernelArg(kernel, kLocalArgument, 0, nullptr));
}

ROW(clGetKernelInfo, CL_INVALID_KERNEL) {
  for (auto handle : b.bad<cl_kernel>()) {
    b.expect(api.clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, 0, nullptr, nullptr));
  }
}
ROW(clGetKernelInfo, CL_INVALID_VALUE) {
  char small[3];
  b.expect(api.clGetKernelInfo(b.kernel(), CL_PROGRAM_SOURCE, 0, nullptr, nullptr));
  b.expect(api.clGetKernelInfo(b.kernel(), CL_KERNEL_FUNCTION_NAME, sizeof small, small, nullptr));
}
ROW(clGetKernelArgInfo, CL_INVALID_KERNEL) {
  for (auto handle : b.bad<cl_kernel>()) {
    b.expect(api.clGetKernelArgInfo(handle, 0, CL_KERNEL_ARG_NAME, 0, nullptr, nullptr));
  }
}
ROW(clGetKernelArgInfo, CL_INVALID_ARG_INDEX) { b.expect(api.clGetKernelArgInfo(b.kernel(), 2, CL_KERNEL_ARG_NAME, 0, nullptr, nullptr)); }
ROW(clGetKernelArgInfo, CL_INVALID_VALUE) {
  char small[1];
  b.expect(api.clGetKernelArgInfo(b.kernel(), 0, CL_KERNEL_NUM_ARGS, 0, nullptr, nullptr));
  b.expect(api.clGetKernelArgInfo(b.kernel(), 0, CL_KERNEL_ARG_NAME, sizeof small, small, nullptr));
}
ROW(clGetKernelWorkGroupInfo, CL_INVALID_KERNEL) {
  for (auto handle : b.bad<cl_kernel>()) {
    b.expect(api.clGetKernelWorkGroupInfo(handle, b.devices[0], CL_KERNEL_WORK_GROUP_SIZE, 0, nullptr, nullptr));
  }
}
ROW(clGetKernelWorkGroupInfo, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) { // null as well: the program has several devices
    b.expect(api.clGetKernelWorkGroupInfo(b.kernel(), handle, CL_KERNEL_WORK_GROUP_SIZE, 0, nullptr, nullptr));
  }
  b.expect(
      api.clGetKernelWorkGroupInfo(b.kernel("simple", b.other_context), b.devices[kOdd], CL_KERNEL_WORK_GROUP_SIZE, 0, nullptr, nullptr));
}
ROW(clGetKernelWorkGroupInfo, CL_INVALID_VALUE) {
  char small[1];
  b.expect(api.clGetKernelWorkGroupInfo(b.kernel(), b.devices[0], CL_KERNEL_NUM_ARGS, 0, nullptr, nullptr));
  b.expect(api.clGetKernelWorkGroupInfo(b.kernel(), b.devices[0], CL_KERNEL_GLOBAL_WORK_SIZE, 0, nullptr, nullptr)); // not built in
  b.expect(api.clGetKernelWorkGroupInfo(b.kernel(), b.devices[0], CL_KERNEL_WORK_GROUP_SIZE, sizeof small, small, nullptr));
}

} // namespace farcl::test
