// Queries: every one of OpenCL 3.0 has an answer, of the right size, with the rules of the size parameters.
#include "tests/driver_api/bench.hpp"

#include "driver/program/program_binary.hpp"

#include <cstring>
#include <string>

namespace farcl::test {
namespace {

using Query = std::function<cl_int(std::size_t size, void* value, std::size_t* size_ret)>;

/// The answer's bytes, after checking that memory of any size is treated as the specification says.
std::vector<char> ask(const Query& query) {
  std::size_t size = 0;
  EXPECT_EQ(query(0, nullptr, &size), CL_SUCCESS);
  std::vector<char> bytes(size + 8, '\x5a');
  EXPECT_EQ(query(size, bytes.data(), nullptr), CL_SUCCESS);
  for (std::size_t i = size; i < bytes.size(); ++i) {
    EXPECT_EQ(bytes[i], '\x5a') << "wrote behind its answer";
  }
  std::size_t again = 0;
  EXPECT_EQ(query(size + 8, bytes.data(), &again), CL_SUCCESS);
  EXPECT_EQ(again, size);
  if (size != 0) {
    EXPECT_EQ(query(size - 1, bytes.data(), nullptr), CL_INVALID_VALUE);
  }
  bytes.resize(size);
  return bytes;
}

template <class T>
T number(const Query& query) {
  const std::vector<char> bytes = ask(query);
  EXPECT_EQ(bytes.size(), sizeof(T));
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}
template <class T>
std::vector<T> list(const Query& query) {
  const std::vector<char> bytes = ask(query);
  EXPECT_EQ(bytes.size() % sizeof(T), 0u);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  }
  return values;
}
std::string text(const Query& query) {
  const std::vector<char> bytes = ask(query);
  EXPECT_FALSE(bytes.empty());
  EXPECT_EQ(bytes.empty() ? 'x' : bytes.back(), '\0');
  return bytes.empty() ? "" : std::string(bytes.data());
}

template <class Handle, class Function>
auto queries_of(Handle handle, Function function) {
  return [=](cl_uint name) -> Query {
    return [=](std::size_t size, void* value, std::size_t* size_ret) { return function(handle, name, size, value, size_ret); };
  };
}

TEST(Queries, Platform) {
  Bench b;
  const auto of = queries_of(b.platform, api.clGetPlatformInfo);
  EXPECT_EQ(text(of(CL_PLATFORM_PROFILE)), "FULL_PROFILE");
  EXPECT_EQ(text(of(CL_PLATFORM_VERSION)).rfind("OpenCL 3.0 FarCL ", 0), 0u);
  EXPECT_EQ(text(of(CL_PLATFORM_NAME)), "FarCL");
  EXPECT_FALSE(text(of(CL_PLATFORM_VENDOR)).empty());
  EXPECT_EQ(text(of(CL_PLATFORM_EXTENSIONS)), "cl_khr_icd");
  EXPECT_EQ(text(of(CL_PLATFORM_ICD_SUFFIX_KHR)), "FarCL");
  EXPECT_EQ(number<cl_ulong>(of(CL_PLATFORM_HOST_TIMER_RESOLUTION)), 0u);
  EXPECT_EQ(number<cl_version>(of(CL_PLATFORM_NUMERIC_VERSION)), CL_MAKE_VERSION(3, 0, 0));
  const auto extensions = list<cl_name_version>(of(CL_PLATFORM_EXTENSIONS_WITH_VERSION));
  ASSERT_EQ(extensions.size(), 1u);
  EXPECT_STREQ(extensions[0].name, "cl_khr_icd");
}

struct DeviceQuery {
  cl_device_info name;
  std::size_t bytes; ///< 0: text, lists
};
constexpr std::size_t kSize = sizeof(std::size_t);

TEST(Queries, EveryDeviceQueryHasItsType) {
  // Numbers up to CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED; what is left out is reserved or belongs to extensions.
  constexpr DeviceQuery kQueries[] = {{CL_DEVICE_TYPE, 8},
                                      {CL_DEVICE_VENDOR_ID, 4},
                                      {CL_DEVICE_MAX_COMPUTE_UNITS, 4},
                                      {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 4},
                                      {CL_DEVICE_MAX_WORK_GROUP_SIZE, kSize},
                                      {CL_DEVICE_MAX_WORK_ITEM_SIZES, 3 * kSize},
                                      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, 4},
                                      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, 4},
                                      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 4},
                                      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, 4},
                                      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 4},
                                      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, 4},
                                      {CL_DEVICE_MAX_CLOCK_FREQUENCY, 4},
                                      {CL_DEVICE_ADDRESS_BITS, 4},
                                      {CL_DEVICE_MAX_READ_IMAGE_ARGS, 4},
                                      {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 4},
                                      {CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8},
                                      {CL_DEVICE_IMAGE2D_MAX_WIDTH, kSize},
                                      {CL_DEVICE_IMAGE2D_MAX_HEIGHT, kSize},
                                      {CL_DEVICE_IMAGE3D_MAX_WIDTH, kSize},
                                      {CL_DEVICE_IMAGE3D_MAX_HEIGHT, kSize},
                                      {CL_DEVICE_IMAGE3D_MAX_DEPTH, kSize},
                                      {CL_DEVICE_IMAGE_SUPPORT, 4},
                                      {CL_DEVICE_MAX_PARAMETER_SIZE, kSize},
                                      {CL_DEVICE_MAX_SAMPLERS, 4},
                                      {CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4},
                                      {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, 4},
                                      {CL_DEVICE_SINGLE_FP_CONFIG, 8},
                                      {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, 4},
                                      {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 4},
                                      {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8},
                                      {CL_DEVICE_GLOBAL_MEM_SIZE, 8},
                                      {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 8},
                                      {CL_DEVICE_MAX_CONSTANT_ARGS, 4},
                                      {CL_DEVICE_LOCAL_MEM_TYPE, 4},
                                      {CL_DEVICE_LOCAL_MEM_SIZE, 8},
                                      {CL_DEVICE_ERROR_CORRECTION_SUPPORT, 4},
                                      {CL_DEVICE_PROFILING_TIMER_RESOLUTION, kSize},
                                      {CL_DEVICE_ENDIAN_LITTLE, 4},
                                      {CL_DEVICE_AVAILABLE, 4},
                                      {CL_DEVICE_COMPILER_AVAILABLE, 4},
                                      {CL_DEVICE_EXECUTION_CAPABILITIES, 8},
                                      {CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, 8},
                                      {CL_DEVICE_NAME, 0},
                                      {CL_DEVICE_VENDOR, 0},
                                      {CL_DRIVER_VERSION, 0},
                                      {CL_DEVICE_PROFILE, 0},
                                      {CL_DEVICE_VERSION, 0},
                                      {CL_DEVICE_EXTENSIONS, 0},
                                      {CL_DEVICE_PLATFORM, kSize},
                                      {CL_DEVICE_DOUBLE_FP_CONFIG, 8},
                                      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, 4},
                                      {CL_DEVICE_HOST_UNIFIED_MEMORY, 4},
                                      {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 4},
                                      {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, 4},
                                      {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 4},
                                      {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, 4},
                                      {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4},
                                      {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 4},
                                      {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 4},
                                      {CL_DEVICE_OPENCL_C_VERSION, 0},
                                      {CL_DEVICE_LINKER_AVAILABLE, 4},
                                      {CL_DEVICE_BUILT_IN_KERNELS, 0},
                                      {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, kSize},
                                      {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, kSize},
                                      {CL_DEVICE_PARENT_DEVICE, kSize},
                                      {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 4},
                                      {CL_DEVICE_PARTITION_PROPERTIES, kSize},
                                      {CL_DEVICE_PARTITION_AFFINITY_DOMAIN, 8},
                                      {CL_DEVICE_PARTITION_TYPE, kSize},
                                      {CL_DEVICE_REFERENCE_COUNT, 4},
                                      {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, 4},
                                      {CL_DEVICE_PRINTF_BUFFER_SIZE, kSize},
                                      {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 4},
                                      {CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, 4},
                                      {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, 4},
                                      {CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, kSize},
                                      {CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 8},
                                      {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, 4},
                                      {CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, 4},
                                      {CL_DEVICE_MAX_ON_DEVICE_QUEUES, 4},
                                      {CL_DEVICE_MAX_ON_DEVICE_EVENTS, 4},
                                      {CL_DEVICE_SVM_CAPABILITIES, 8},
                                      {CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, kSize},
                                      {CL_DEVICE_MAX_PIPE_ARGS, 4},
                                      {CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, 4},
                                      {CL_DEVICE_PIPE_MAX_PACKET_SIZE, 4},
                                      {CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, 4},
                                      {CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, 4},
                                      {CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, 4},
                                      {CL_DEVICE_IL_VERSION, 0},
                                      {CL_DEVICE_MAX_NUM_SUB_GROUPS, 4},
                                      {CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, 4},
                                      {CL_DEVICE_NUMERIC_VERSION, 4},
                                      {CL_DEVICE_EXTENSIONS_WITH_VERSION, 0},
                                      {CL_DEVICE_ILS_WITH_VERSION, 0},
                                      {CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, 0},
                                      {CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, 8},
                                      {CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, 8},
                                      {CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, 4},
                                      {CL_DEVICE_OPENCL_C_ALL_VERSIONS, 0},
                                      {CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, kSize},
                                      {CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, 4},
                                      {CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, 4},
                                      {CL_DEVICE_OPENCL_C_FEATURES, 0},
                                      {CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, 8},
                                      {CL_DEVICE_PIPE_SUPPORT, 4},
                                      {CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, 0}};
  Bench b;
  for (cl_device_id device : b.devices) {
    const auto of = queries_of(device, api.clGetDeviceInfo);
    for (const DeviceQuery& query : kQueries) {
      const std::size_t bytes = ask(of(query.name)).size();
      EXPECT_TRUE(query.bytes == 0 || query.bytes == bytes) << std::hex << query.name << std::dec << ": " << bytes;
    }
  }
}

TEST(Queries, Device) {
  Bench b;
  const auto of = queries_of(b.devices[kPlain], api.clGetDeviceInfo);
  EXPECT_EQ(text(of(CL_DEVICE_NAME)), "plain");
  EXPECT_EQ(number<cl_platform_id>(of(CL_DEVICE_PLATFORM)), b.platform);
  EXPECT_EQ(number<cl_device_id>(of(CL_DEVICE_PARENT_DEVICE)), nullptr);
  EXPECT_EQ(number<cl_uint>(of(CL_DEVICE_REFERENCE_COUNT)), 1u);
  EXPECT_EQ(number<cl_bool>(of(CL_DEVICE_AVAILABLE)), cl_bool{CL_TRUE});
  EXPECT_EQ(list<std::size_t>(of(CL_DEVICE_MAX_WORK_ITEM_SIZES)), (std::vector<std::size_t>{kMaxGroup, kMaxGroup, kMaxItemsZ}));
  EXPECT_EQ(list<cl_device_partition_property>(of(CL_DEVICE_PARTITION_PROPERTIES)), std::vector<cl_device_partition_property>{0});
  EXPECT_EQ(list<cl_name_version>(of(CL_DEVICE_EXTENSIONS_WITH_VERSION)).size(), 2u);
  const auto versions = list<cl_name_version>(of(CL_DEVICE_OPENCL_C_ALL_VERSIONS));
  ASSERT_EQ(versions.size(), 1u);
  EXPECT_EQ(versions[0].version, CL_MAKE_VERSION(1, 2, 0));
  EXPECT_EQ(api.clGetDeviceInfo(b.devices[kPlain], CL_DEVICE_HALF_FP_CONFIG, 0, nullptr, nullptr), CL_INVALID_VALUE); // no cl_khr_fp16
}

TEST(Queries, DevicesByType) {
  Bench b;
  const auto count = [&](cl_device_type type) {
    cl_uint number = 0;
    (void)api.clGetDeviceIDs(b.platform, type, 0, nullptr, &number);
    return number;
  };
  EXPECT_EQ(count(CL_DEVICE_TYPE_ALL), 3u);
  EXPECT_EQ(count(CL_DEVICE_TYPE_CPU), 2u);
  EXPECT_EQ(count(CL_DEVICE_TYPE_GPU), 1u);
  EXPECT_EQ(count(CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU), 3u);
  EXPECT_EQ(count(CL_DEVICE_TYPE_DEFAULT), 1u);
  EXPECT_EQ(count(CL_DEVICE_TYPE_CUSTOM), 0u);
}

TEST(Queries, Context) {
  Bench b;
  const auto of = queries_of(b.context, api.clGetContextInfo);
  EXPECT_EQ(number<cl_uint>(of(CL_CONTEXT_NUM_DEVICES)), 3u);
  EXPECT_EQ(list<cl_device_id>(of(CL_CONTEXT_DEVICES)), b.devices);
  EXPECT_EQ(number<cl_uint>(of(CL_CONTEXT_REFERENCE_COUNT)), 1u);
  EXPECT_TRUE(list<cl_context_properties>(of(CL_CONTEXT_PROPERTIES)).empty());
  const std::vector<cl_context_properties> properties = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(b.platform), 0};
  cl_context context = api.clCreateContext(properties.data(), 1, b.devices.data(), nullptr, nullptr, nullptr);
  EXPECT_EQ(list<cl_context_properties>(queries_of(context, api.clGetContextInfo)(CL_CONTEXT_PROPERTIES)), properties);
  EXPECT_EQ(api.clReleaseContext(context), CL_SUCCESS);
}

TEST(Queries, Queue) {
  Bench b;
  const auto of = queries_of(b.profiling_queue, api.clGetCommandQueueInfo);
  EXPECT_EQ(number<cl_context>(of(CL_QUEUE_CONTEXT)), b.context);
  EXPECT_EQ(number<cl_device_id>(of(CL_QUEUE_DEVICE)), b.devices[kPlain]);
  EXPECT_EQ(number<cl_uint>(of(CL_QUEUE_REFERENCE_COUNT)), 1u);
  EXPECT_EQ(number<cl_command_queue_properties>(of(CL_QUEUE_PROPERTIES)), cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE});
  EXPECT_TRUE(list<cl_queue_properties>(of(CL_QUEUE_PROPERTIES_ARRAY)).empty());
  EXPECT_EQ(number<cl_command_queue>(of(CL_QUEUE_DEVICE_DEFAULT)), nullptr);
  const std::vector<cl_queue_properties> properties = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  cl_command_queue queue = api.clCreateCommandQueueWithProperties(b.context, b.devices[0], properties.data(), nullptr);
  EXPECT_EQ(list<cl_queue_properties>(queries_of(queue, api.clGetCommandQueueInfo)(CL_QUEUE_PROPERTIES_ARRAY)), properties);
  EXPECT_EQ(api.clReleaseCommandQueue(queue), CL_SUCCESS);
}

TEST(Queries, Memory) {
  Bench b;
  cl_mem buffer = b.buffer(CL_MEM_READ_ONLY, 1024);
  const auto of = queries_of(buffer, api.clGetMemObjectInfo);
  EXPECT_EQ(number<cl_mem_object_type>(of(CL_MEM_TYPE)), cl_mem_object_type{CL_MEM_OBJECT_BUFFER});
  EXPECT_EQ(number<cl_mem_flags>(of(CL_MEM_FLAGS)), cl_mem_flags{CL_MEM_READ_ONLY});
  EXPECT_EQ(number<std::size_t>(of(CL_MEM_SIZE)), 1024u);
  EXPECT_EQ(number<void*>(of(CL_MEM_HOST_PTR)), nullptr);
  EXPECT_EQ(number<cl_uint>(of(CL_MEM_MAP_COUNT)), 0u);
  EXPECT_EQ(number<cl_uint>(of(CL_MEM_REFERENCE_COUNT)), 1u);
  EXPECT_EQ(number<cl_context>(of(CL_MEM_CONTEXT)), b.context);
  EXPECT_EQ(number<cl_mem>(of(CL_MEM_ASSOCIATED_MEMOBJECT)), nullptr);
  EXPECT_EQ(number<std::size_t>(of(CL_MEM_OFFSET)), 0u);
  EXPECT_EQ(number<cl_bool>(of(CL_MEM_USES_SVM_POINTER)), cl_bool{CL_FALSE});
  EXPECT_TRUE(list<cl_mem_properties>(of(CL_MEM_PROPERTIES)).empty());
  cl_mem sub = b.misaligned_sub_buffer();
  const auto of_sub = queries_of(sub, api.clGetMemObjectInfo);
  EXPECT_NE(number<cl_mem>(of_sub(CL_MEM_ASSOCIATED_MEMOBJECT)), nullptr);
  EXPECT_EQ(number<std::size_t>(of_sub(CL_MEM_OFFSET)), 128u);
  EXPECT_EQ(number<std::size_t>(of_sub(CL_MEM_SIZE)), 256u);
}

TEST(Queries, Event) {
  Bench b;
  cl_event user = b.open_event();
  const auto of_user = queries_of(user, api.clGetEventInfo);
  EXPECT_EQ(number<cl_command_queue>(of_user(CL_EVENT_COMMAND_QUEUE)), nullptr);
  EXPECT_EQ(number<cl_command_type>(of_user(CL_EVENT_COMMAND_TYPE)), cl_command_type{CL_COMMAND_USER});
  EXPECT_EQ(number<cl_int>(of_user(CL_EVENT_COMMAND_EXECUTION_STATUS)), CL_SUBMITTED);
  EXPECT_EQ(number<cl_uint>(of_user(CL_EVENT_REFERENCE_COUNT)), 1u);
  cl_event event = b.profiled_event();
  const auto of = queries_of(event, api.clGetEventInfo);
  EXPECT_EQ(number<cl_command_queue>(of(CL_EVENT_COMMAND_QUEUE)), b.profiling_queue);
  EXPECT_EQ(number<cl_context>(of(CL_EVENT_CONTEXT)), b.context);
  EXPECT_EQ(number<cl_command_type>(of(CL_EVENT_COMMAND_TYPE)), cl_command_type{CL_COMMAND_MARKER});
  EXPECT_EQ(number<cl_int>(of(CL_EVENT_COMMAND_EXECUTION_STATUS)), CL_COMPLETE);
  const auto times = queries_of(event, api.clGetEventProfilingInfo);
  cl_ulong before = 0;
  for (const cl_profiling_info name : {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START,
                                       CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_COMPLETE}) {
    const auto time = number<cl_ulong>(times(name));
    EXPECT_GE(time, before);
    before = time;
  }
}

TEST(Queries, Program) {
  Bench b;
  cl_program program = b.built_program(b.context);
  const auto of = queries_of(program, api.clGetProgramInfo);
  EXPECT_EQ(number<cl_uint>(of(CL_PROGRAM_REFERENCE_COUNT)), 1u);
  EXPECT_EQ(number<cl_context>(of(CL_PROGRAM_CONTEXT)), b.context);
  EXPECT_EQ(number<cl_uint>(of(CL_PROGRAM_NUM_DEVICES)), 3u);
  EXPECT_EQ(list<cl_device_id>(of(CL_PROGRAM_DEVICES)), b.devices);
  EXPECT_EQ(text(of(CL_PROGRAM_SOURCE)), "kernel void simple(global int* out, local int* scratch) {}");
  EXPECT_EQ(number<std::size_t>(of(CL_PROGRAM_NUM_KERNELS)), std::size(kKernelNames));
  EXPECT_EQ(text(of(CL_PROGRAM_KERNEL_NAMES)), "simple;required;all_kinds");
  EXPECT_TRUE(ask(of(CL_PROGRAM_IL)).empty());
  EXPECT_EQ(number<cl_bool>(of(CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT)), cl_bool{CL_FALSE});
  EXPECT_EQ(number<cl_bool>(of(CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT)), cl_bool{CL_FALSE});
  const auto sizes = list<std::size_t>(of(CL_PROGRAM_BINARY_SIZES));
  EXPECT_EQ(sizes, std::vector<std::size_t>(3, driver::kProgramBinaryHeaderBytes + 100));

  const auto build_of = [&](cl_device_id device, cl_program_build_info name) -> Query {
    return [=](std::size_t size, void* value, std::size_t* size_ret) {
      return api.clGetProgramBuildInfo(program, device, name, size, value, size_ret);
    };
  };
  EXPECT_EQ(number<cl_build_status>(build_of(b.devices[0], CL_PROGRAM_BUILD_STATUS)), CL_BUILD_SUCCESS);
  EXPECT_EQ(number<cl_build_status>(build_of(b.devices[1], CL_PROGRAM_BUILD_STATUS)), CL_BUILD_NONE); // it was not for this one
  EXPECT_EQ(text(build_of(b.devices[0], CL_PROGRAM_BUILD_OPTIONS)), "");
  EXPECT_EQ(text(build_of(b.devices[0], CL_PROGRAM_BUILD_LOG)), "");
  EXPECT_EQ(number<cl_program_binary_type>(build_of(b.devices[0], CL_PROGRAM_BINARY_TYPE)),
            cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  EXPECT_EQ(number<std::size_t>(build_of(b.devices[0], CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE)), 0u);
}

TEST(Queries, ProgramBinariesGoThroughAnotherProgram) {
  Bench b;
  cl_program program = b.built_program();
  std::size_t size = 0;
  ASSERT_EQ(api.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), CL_SUCCESS);
  std::vector<unsigned char> binary(size);
  unsigned char* pointer = binary.data();
  ASSERT_EQ(api.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr), CL_SUCCESS);
  const unsigned char* data = binary.data();
  cl_int status = 1;
  cl_program copy = api.clCreateProgramWithBinary(b.context, 1, b.devices.data(), &size, &data, &status, nullptr);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(status, CL_SUCCESS);
  // Not built yet: the bytes come back without asking the server.
  std::vector<unsigned char> again(size);
  pointer = again.data();
  ASSERT_EQ(api.clGetProgramInfo(copy, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr), CL_SUCCESS);
  EXPECT_EQ(again, binary);
  // The build sends what came out of ProgramBinary, without the client's header.
  ByteVector sent;
  b.server.script().with([&](Script& script) {
    script.on_build = [&sent](const protocol::BuildProgram& request) {
      const auto bytes = std::get<protocol::BinaryInput>(request.inputs.at(0)).bytes;
      sent.assign(bytes.begin(), bytes.end());
      return protocol::BuildDone{.status = CL_SUCCESS, .binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE};
    };
  });
  EXPECT_EQ(api.clBuildProgram(copy, 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(sent, ByteVector(100, std::byte{7}));
  EXPECT_EQ(api.clReleaseProgram(copy), CL_SUCCESS);
}

TEST(Queries, Kernel) {
  Bench b;
  cl_kernel kernel = b.kernel("required");
  const auto of = queries_of(kernel, api.clGetKernelInfo);
  EXPECT_EQ(text(of(CL_KERNEL_FUNCTION_NAME)), "required");
  EXPECT_EQ(number<cl_uint>(of(CL_KERNEL_NUM_ARGS)), 2u);
  EXPECT_EQ(number<cl_uint>(of(CL_KERNEL_REFERENCE_COUNT)), 1u);
  EXPECT_EQ(number<cl_context>(of(CL_KERNEL_CONTEXT)), b.context);
  EXPECT_NE(number<cl_program>(of(CL_KERNEL_PROGRAM)), nullptr);
  EXPECT_EQ(text(of(CL_KERNEL_ATTRIBUTES)), "reqd_work_group_size(8,1,1)");

  const auto argument = [&](cl_uint index, cl_kernel_arg_info name) -> Query {
    return [=](std::size_t size, void* value, std::size_t* size_ret) {
      return api.clGetKernelArgInfo(kernel, index, name, size, value, size_ret);
    };
  };
  EXPECT_EQ(text(argument(0, CL_KERNEL_ARG_NAME)), "out");
  EXPECT_EQ(text(argument(0, CL_KERNEL_ARG_TYPE_NAME)), "int*");
  EXPECT_EQ(number<cl_kernel_arg_address_qualifier>(argument(0, CL_KERNEL_ARG_ADDRESS_QUALIFIER)),
            cl_kernel_arg_address_qualifier{CL_KERNEL_ARG_ADDRESS_GLOBAL});
  EXPECT_EQ(number<cl_kernel_arg_access_qualifier>(argument(0, CL_KERNEL_ARG_ACCESS_QUALIFIER)),
            cl_kernel_arg_access_qualifier{CL_KERNEL_ARG_ACCESS_NONE});
  EXPECT_EQ(number<cl_kernel_arg_type_qualifier>(argument(0, CL_KERNEL_ARG_TYPE_QUALIFIER)), cl_kernel_arg_type_qualifier{0});

  const auto group = [&](cl_kernel_work_group_info name) -> Query {
    return [=, device = b.devices[0]](std::size_t size, void* value, std::size_t* size_ret) {
      return api.clGetKernelWorkGroupInfo(kernel, device, name, size, value, size_ret);
    };
  };
  EXPECT_EQ(number<std::size_t>(group(CL_KERNEL_WORK_GROUP_SIZE)), kMaxGroup);
  EXPECT_EQ(list<std::size_t>(group(CL_KERNEL_COMPILE_WORK_GROUP_SIZE)), (std::vector<std::size_t>{8, 1, 1}));
  EXPECT_EQ(number<std::size_t>(group(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE)), 8u);
  EXPECT_EQ(number<cl_ulong>(group(CL_KERNEL_LOCAL_MEM_SIZE)), 0u);
  EXPECT_EQ(api.clSetKernelArg(kernel, 1, 96, nullptr), CL_SUCCESS);
  EXPECT_EQ(number<cl_ulong>(group(CL_KERNEL_LOCAL_MEM_SIZE)), 96u);
  EXPECT_EQ(number<cl_ulong>(group(CL_KERNEL_PRIVATE_MEM_SIZE)), 0u);
}

TEST(Kernels, ClonesKeepTheirArguments) {
  Bench b;
  cl_kernel kernel = b.ready_kernel();
  cl_kernel clone = api.clCloneKernel(kernel, nullptr);
  ASSERT_NE(clone, nullptr);
  const std::size_t global = 8;
  EXPECT_EQ(api.clEnqueueNDRangeKernel(b.queue, clone, 1, nullptr, &global, nullptr, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(api.clSetKernelArg(clone, 1, kLocalBytes + 1, nullptr), CL_SUCCESS);
  EXPECT_EQ(api.clEnqueueNDRangeKernel(b.queue, clone, 1, nullptr, &global, nullptr, 0, nullptr, nullptr), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(api.clEnqueueNDRangeKernel(b.queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseKernel(clone), CL_SUCCESS);
}

TEST(Kernels, AllOfAProgram) {
  Bench b;
  cl_program program = b.built_program();
  cl_kernel kernels[3] = {};
  cl_uint count = 0;
  ASSERT_EQ(api.clCreateKernelsInProgram(program, 3, kernels, &count), CL_SUCCESS);
  EXPECT_EQ(count, 3u);
  for (cl_uint i = 0; i < count; ++i) {
    EXPECT_EQ(text(queries_of(kernels[i], api.clGetKernelInfo)(CL_KERNEL_FUNCTION_NAME)), kKernelNames[i]);
    EXPECT_EQ(api.clReleaseKernel(kernels[i]), CL_SUCCESS);
  }
}

TEST(Extensions, AreFoundByName) {
  Bench b;
  EXPECT_NE(api.clGetExtensionFunctionAddress("clIcdGetPlatformIDsKHR"), nullptr);
  EXPECT_NE(api.clGetExtensionFunctionAddress("clGetPlatformInfo"), nullptr);
  EXPECT_EQ(api.clGetExtensionFunctionAddress("clNoSuchThing"), nullptr);
  EXPECT_EQ(api.clGetExtensionFunctionAddress(nullptr), nullptr);
  EXPECT_NE(api.clGetExtensionFunctionAddressForPlatform(b.platform, "clIcdGetPlatformIDsKHR"), nullptr);
  EXPECT_EQ(api.clGetExtensionFunctionAddressForPlatform(nullptr, "clIcdGetPlatformIDsKHR"), nullptr);
}

} // namespace
} // namespace farcl::test
