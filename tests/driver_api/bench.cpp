#include "tests/driver_api/bench.hpp"

#include "driver/objects/context.hpp"
#include "driver/program/program_binary.hpp"
#include "driver/session/runtime.hpp"
#include "driver/session/session.hpp"

#include <array>
#include <chrono>
#include <thread>

namespace farcl::test {
namespace {

using protocol::DeviceProperty;
using Numbers = std::vector<std::uint64_t>;

DeviceProperty number(cl_device_info name, std::uint64_t value) { return {name, Numbers{value}}; }
DeviceProperty text(cl_device_info name, std::string value) { return {name, std::move(value)}; }

protocol::DeviceInfo plain_device() {
  return {"fake",
          {number(CL_DEVICE_TYPE, CL_DEVICE_TYPE_CPU),
           number(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3),
           {CL_DEVICE_MAX_WORK_ITEM_SIZES, Numbers{kMaxGroup, kMaxGroup, kMaxItemsZ}},
           number(CL_DEVICE_MAX_WORK_GROUP_SIZE, kMaxGroup),
           number(CL_DEVICE_ADDRESS_BITS, 64),
           number(CL_DEVICE_MAX_MEM_ALLOC_SIZE, kMaxAlloc),
           number(CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024),
           number(CL_DEVICE_LOCAL_MEM_SIZE, kLocalBytes),
           number(CL_DEVICE_COMPILER_AVAILABLE, 1),
           number(CL_DEVICE_LINKER_AVAILABLE, 1),
           number(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE),
           number(CL_DEVICE_NUMERIC_VERSION, CL_MAKE_VERSION(3, 0, 0)),
           text(CL_DEVICE_NAME, "plain"),
           text(CL_DEVICE_VERSION, "OpenCL 3.0 fake"),
           text(CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 fake"),
           text(CL_DEVICE_EXTENSIONS, "cl_khr_fp64 cl_khr_byte_addressable_store"),
           text(CL_DEVICE_PROFILE, "FULL_PROFILE")}};
}

void replace(protocol::DeviceInfo& device, DeviceProperty property) {
  std::erase_if(device.properties, [&](const DeviceProperty& one) { return one.name == property.name; });
  device.properties.push_back(std::move(property));
}

protocol::ServerInfo server_info() {
  protocol::DeviceInfo odd = plain_device();
  replace(odd, text(CL_DEVICE_NAME, "odd"));
  replace(odd, number(CL_DEVICE_TYPE, CL_DEVICE_TYPE_GPU));
  replace(odd, number(CL_DEVICE_ADDRESS_BITS, 32));
  replace(odd, number(CL_DEVICE_NUMERIC_VERSION, CL_MAKE_VERSION(1, 2, 0)));
  replace(odd, text(CL_DEVICE_VERSION, "OpenCL 1.2 fake"));
  replace(odd, number(CL_DEVICE_MEM_BASE_ADDR_ALIGN, kOddAlignmentBytes * 8));
  replace(odd, number(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, CL_QUEUE_PROFILING_ENABLE));
  protocol::DeviceInfo no_compiler = plain_device();
  replace(no_compiler, text(CL_DEVICE_NAME, "no compiler"));
  replace(no_compiler, number(CL_DEVICE_COMPILER_AVAILABLE, 0));
  replace(no_compiler, number(CL_DEVICE_LINKER_AVAILABLE, 0));
  return {.version = "0.1.0", .host_name = "fake", .limits = {.memory_bytes = 1u << 30}, .devices = {plain_device(), odd, no_compiler}};
}

ArgumentInfo argument(const char* name, const char* type, ArgumentKind kind, std::uint32_t size) {
  ArgumentInfo info;
  info.name = name;
  info.type_name = type;
  info.kind = kind;
  info.size_bytes = size;
  info.alignment_bytes = size;
  info.address_qualifier = kind == ArgumentKind::kGlobal  ? CL_KERNEL_ARG_ADDRESS_GLOBAL
                           : kind == ArgumentKind::kLocal ? CL_KERNEL_ARG_ADDRESS_LOCAL
                                                          : CL_KERNEL_ARG_ADDRESS_PRIVATE;
  info.access_qualifier = CL_KERNEL_ARG_ACCESS_NONE;
  return info;
}

ProgramInfo program_info() {
  KernelInfo simple;
  simple.name = "simple";
  simple.max_work_group_size = kMaxGroup;
  simple.preferred_multiple = 8;
  simple.arguments = {argument("out", "int*", ArgumentKind::kGlobal, 8), argument("scratch", "int*", ArgumentKind::kLocal, 8)};
  KernelInfo required = simple;
  required.name = "required";
  required.attributes = "reqd_work_group_size(8,1,1)";
  required.required_work_group_size = {8, 1, 1};
  KernelInfo all = simple;
  all.name = "all_kinds";
  all.arguments = {argument("out", "int*", ArgumentKind::kGlobal, 8), argument("value", "float4", ArgumentKind::kValue, 16),
                   argument("scratch", "int*", ArgumentKind::kLocal, 8), argument("image", "image2d_t", ArgumentKind::kImage, 8),
                   argument("sampler", "sampler_t", ArgumentKind::kSampler, 8)};
  return {{simple, required, all}};
}

protocol::BuildDone build_reply(const protocol::BuildProgram& request, cl_int status) {
  protocol::BuildDone done;
  done.status = status;
  done.log = status == CL_SUCCESS ? "" : "source.cl:1:1: error: as the test wants\n";
  if (status == CL_SUCCESS) {
    done.binary_type =
        request.stage == protocol::BuildStage::kCompile ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    done.binary_bytes = 100;
    done.info = request.stage == protocol::BuildStage::kCompile ? ProgramInfo{} : program_info();
  }
  return done;
}

/// The server that most tests share; servers are never taken down, because sessions live for ever.
ScriptedServer& connect(bool fresh) {
  static ScriptedServer* shared = nullptr;
  static ScriptedServer* connected = nullptr;
  if (!fresh && shared != nullptr && shared == connected) {
    return *shared;
  }
  auto* server = new ScriptedServer(server_info());
  shared = fresh ? shared : server;
  connected = server;
  Config config;
  config.servers = "127.0.0.1";
  config.resume_seconds = 1;
  driver::Runtime::instance().reset_for_tests(config, [server](const net::ServerAddress&, const Config&) { return server->connector(); });
  return *server;
}

} // namespace

template <class Handle, class Release>
Handle Bench::keep(Handle handle, Release release) {
  EXPECT_NE(handle, nullptr) << "the bench could not make an object";
  cleanup_.push_back([handle, release] { release(handle); });
  return handle;
}

Bench::Bench(bool fresh) : server(connect(fresh)) {
  server.script().with([](Script& script) {
    script = Script{};
    script.on_build = [](const protocol::BuildProgram& request) { return build_reply(request, CL_SUCCESS); };
    script.binary = ByteVector(100, std::byte{7});
  });
  EXPECT_EQ(api.clGetPlatformIDs(1, &platform, nullptr), CL_SUCCESS);
  devices.resize(3);
  EXPECT_EQ(api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 3, devices.data(), nullptr), CL_SUCCESS);
  context = keep(api.clCreateContext(nullptr, 3, devices.data(), nullptr, nullptr, nullptr), api.clReleaseContext);
  other_context = keep(api.clCreateContext(nullptr, 1, devices.data(), nullptr, nullptr, nullptr), api.clReleaseContext);
  queue = keep(api.clCreateCommandQueue(context, devices[kPlain], 0, nullptr), api.clReleaseCommandQueue);
  odd_queue = keep(api.clCreateCommandQueue(context, devices[kOdd], 0, nullptr), api.clReleaseCommandQueue);
  profiling_queue = keep(api.clCreateCommandQueue(context, devices[kPlain], CL_QUEUE_PROFILING_ENABLE, nullptr), api.clReleaseCommandQueue);
}

Bench::~Bench() {
  while (!cleanup_.empty()) {
    cleanup_.back()();
    cleanup_.pop_back();
  }
}

template <class Handle>
std::vector<Handle> Bench::bad() {
  static std::array<std::uint64_t, 8> nothing{};
  const auto wrong_type =
      std::is_same_v<Handle, cl_device_id> ? reinterpret_cast<Handle>(context) : reinterpret_cast<Handle>(devices[kPlain]);
  std::vector<Handle> handles = {nullptr, reinterpret_cast<Handle>(nothing.data()), wrong_type};
  if constexpr (std::is_same_v<Handle, cl_context>) {
    handles.push_back(api.clCreateContext(nullptr, 1, devices.data(), nullptr, nullptr, nullptr));
    EXPECT_EQ(api.clReleaseContext(handles.back()), CL_SUCCESS);
  }
  return handles;
}
template std::vector<cl_platform_id> Bench::bad();
template std::vector<cl_device_id> Bench::bad();
template std::vector<cl_context> Bench::bad();
template std::vector<cl_command_queue> Bench::bad();
template std::vector<cl_mem> Bench::bad();
template std::vector<cl_program> Bench::bad();
template std::vector<cl_kernel> Bench::bad();
template std::vector<cl_event> Bench::bad();

cl_mem Bench::buffer(cl_mem_flags flags, std::size_t size) {
  return keep(api.clCreateBuffer(context, flags, size, nullptr, nullptr), api.clReleaseMemObject);
}

cl_mem Bench::buffer_in(cl_context in) { return keep(api.clCreateBuffer(in, 0, 4096, nullptr, nullptr), api.clReleaseMemObject); }

cl_mem Bench::misaligned_sub_buffer() {
  const cl_buffer_region region{128, 256};
  return keep(api.clCreateSubBuffer(buffer(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, nullptr), api.clReleaseMemObject);
}

cl_program Bench::source_program(cl_context in) {
  const char* source = "kernel void simple(global int* out, local int* scratch) {}";
  return keep(api.clCreateProgramWithSource(in != nullptr ? in : other_context, 1, &source, nullptr, nullptr), api.clReleaseProgram);
}

cl_program Bench::built_program(cl_context in) {
  cl_program program = source_program(in);
  EXPECT_EQ(api.clBuildProgram(program, 1, devices.data(), nullptr, nullptr, nullptr), CL_SUCCESS);
  return program;
}

cl_program Bench::compiled_program(cl_context in) {
  cl_program program = source_program(in);
  EXPECT_EQ(api.clCompileProgram(program, 1, devices.data(), nullptr, 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
  return program;
}

cl_program Bench::binary_program(std::size_t device) {
  const ByteVector binary = driver::make_program_binary(CL_PROGRAM_BINARY_TYPE_EXECUTABLE, ByteVector(100, std::byte{7}));
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  return keep(api.clCreateProgramWithBinary(context, 1, &devices[device], &size, &bytes, nullptr, nullptr), api.clReleaseProgram);
}

cl_kernel Bench::kernel(const char* name, cl_context in) {
  return keep(api.clCreateKernel(built_program(in != nullptr ? in : context), name, nullptr), api.clReleaseKernel);
}

cl_kernel Bench::ready_kernel(const char* name) {
  cl_kernel made = kernel(name);
  cl_mem out = buffer();
  EXPECT_EQ(api.clSetKernelArg(made, 0, sizeof out, &out), CL_SUCCESS);
  EXPECT_EQ(api.clSetKernelArg(made, 1, 64, nullptr), CL_SUCCESS);
  return made;
}

cl_event Bench::open_event(cl_context in) {
  cl_event event = keep(api.clCreateUserEvent(in != nullptr ? in : context, nullptr), api.clReleaseEvent);
  cleanup_.push_back([event] { (void)api.clSetUserEventStatus(event, CL_COMPLETE); }); // what waits for it may go on
  return event;
}

cl_event Bench::failed_event() {
  cl_event event = open_event();
  EXPECT_EQ(api.clSetUserEventStatus(event, -42), CL_SUCCESS);
  return event;
}

cl_event Bench::complete_event() {
  cl_event event = open_event();
  EXPECT_EQ(api.clSetUserEventStatus(event, CL_COMPLETE), CL_SUCCESS);
  return event;
}

cl_event Bench::profiled_event() {
  cl_event event = nullptr;
  EXPECT_EQ(api.clEnqueueMarkerWithWaitList(profiling_queue, 0, nullptr, &event), CL_SUCCESS);
  keep(event, api.clReleaseEvent);
  EXPECT_EQ(api.clWaitForEvents(1, &event), CL_SUCCESS);
  return event;
}

void Bench::builds_say(cl_int status) {
  server.script().with(
      [&](Script& script) { script.on_build = [status](const protocol::BuildProgram& request) { return build_reply(request, status); }; });
}

void Bench::kill_server() {
  server.kill();
  const driver::ServerSession& session = driver::Context::from(context)->session();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!session.dead() && std::chrono::steady_clock::now() < end) {
    (void)api.clFinish(queue); // a wait that finds out
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(session.dead());
}

} // namespace farcl::test
