// Devices: what the server said at the handshake, in the C types that OpenCL wants.
#include "driver/info/info.hpp"
#include "driver/info/name_version.hpp"
#include "driver/session/session.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace farcl::driver {
namespace {

const std::vector<std::uint64_t>& numbers(const Device& device, cl_device_info name) {
  static const std::vector<std::uint64_t> none;
  const Device::Value* value = device.property(name);
  const auto* list = value != nullptr ? std::get_if<std::vector<std::uint64_t>>(value) : nullptr;
  return list != nullptr ? *list : none;
}

/// A number of the server in a type of the client: size_t is 32 bits wide on some.
template <class T>
T narrow(std::uint64_t number) {
  return static_cast<T>(std::min<std::uint64_t>(number, std::numeric_limits<T>::max()));
}

/// What a server did not say is 0, "" or an empty list: what OpenCL wants for features that a device does not have.
using Answer = cl_int (*)(const Device& device, cl_device_info name, const InfoSink& sink);

template <class T>
cl_int number_as(const Device& device, cl_device_info name, const InfoSink& sink) {
  return sink.value(narrow<T>(device.number(name)));
}
template <class T>
cl_int list_as(const Device& device, cl_device_info name, const InfoSink& sink) {
  std::vector<T> list;
  for (const std::uint64_t number : numbers(device, name)) {
    list.push_back(narrow<T>(number));
  }
  return sink.array(list);
}
cl_int boolean(const Device& device, cl_device_info name, const InfoSink& sink) { return sink.value<cl_bool>(device.number(name) != 0); }
cl_int text(const Device& device, cl_device_info name, const InfoSink& sink) { return sink.text(device.text(name)); }
cl_int name_versions(const Device& device, cl_device_info name, const InfoSink& sink) {
  return sink.array(parse_name_versions(device.text(name)));
}
/// A list of properties that ends with 0 also when it is empty.
cl_int partition_list(const Device& device, cl_device_info name, const InfoSink& sink) {
  if (numbers(device, name).empty()) {
    return sink.value(cl_device_partition_property{0});
  }
  return list_as<cl_device_partition_property>(device, name, sink);
}
/// Queries of extensions: only where the server has an answer.
template <Answer kAnswer>
cl_int if_said(const Device& device, cl_device_info name, const InfoSink& sink) {
  return device.property(name) != nullptr ? kAnswer(device, name, sink) : CL_INVALID_VALUE;
}

cl_int own_name(const Device& device, cl_device_info name, const InfoSink& sink) {
  return sink.text(std::string(device.text(name)) + device.name_suffix());
}
cl_int platform_handle(const Device& device, cl_device_info, const InfoSink& sink) { return sink.value(device.platform().handle()); }
cl_int available(const Device& device, cl_device_info name, const InfoSink& sink) {
  return sink.value<cl_bool>(device.number(name, CL_TRUE) != 0 && !device.session().dead());
}
cl_int driver_version(const Device& device, cl_device_info name, const InfoSink& sink) {
  const std::string_view said = device.text(name);
  return sink.text(said.empty() ? FARCL_VERSION : said);
}
cl_int numeric_version(const Device& device, cl_device_info name, const InfoSink& sink) {
  const std::uint64_t said = device.number(name);
  return sink.value(said != 0 ? narrow<cl_version>(said) : version_in(device.text(CL_DEVICE_VERSION)));
}
cl_int opencl_c_numeric_version(const Device& device, cl_device_info, const InfoSink& sink) {
  return sink.value(version_in(device.text(CL_DEVICE_OPENCL_C_VERSION)));
}
cl_int opencl_c_versions(const Device& device, cl_device_info name, const InfoSink& sink) {
  auto list = parse_name_versions(device.text(name));
  if (list.empty()) {
    list.push_back(make_name_version("OpenCL C", version_in(device.text(CL_DEVICE_OPENCL_C_VERSION))));
  }
  return sink.array(list);
}
cl_int extensions_with_version(const Device& device, cl_device_info name, const InfoSink& sink) {
  auto list = parse_name_versions(device.text(name));
  return sink.array(list.empty() ? name_versions_of_extensions(device.text(CL_DEVICE_EXTENSIONS)) : list);
}
/// None has passed it: a date that says so, in the form that programs parse.
cl_int conformance_version(const Device& device, cl_device_info name, const InfoSink& sink) {
  const std::string_view said = device.text(name);
  return sink.text(said.empty() ? "v0000-01-01-00" : said);
}
cl_int no_parent(const Device&, cl_device_info, const InfoSink& sink) { return sink.value(cl_device_id{nullptr}); }
cl_int root_count(const Device&, cl_device_info, const InfoSink& sink) { return sink.value(cl_uint{1}); } // root devices are not counted

struct DeviceRow {
  cl_device_info name;
  Answer answer;
};

constexpr Answer kUint = number_as<cl_uint>;
constexpr Answer kUlong = number_as<cl_ulong>;
constexpr Answer kSize = number_as<std::size_t>;
constexpr Answer kBool = boolean;
constexpr Answer kText = text;

constexpr DeviceRow kRows[] = {
    {CL_DEVICE_TYPE, kUlong},
    {CL_DEVICE_VENDOR_ID, kUint},
    {CL_DEVICE_MAX_COMPUTE_UNITS, kUint},
    {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, kUint},
    {CL_DEVICE_MAX_WORK_ITEM_SIZES, list_as<std::size_t>},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, kSize},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, kUint},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, kUint},
    {CL_DEVICE_ADDRESS_BITS, kUint},
    {CL_DEVICE_MAX_MEM_ALLOC_SIZE, kUlong},
    {CL_DEVICE_IMAGE_SUPPORT, kBool},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, kUint},
    {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, kUint},
    {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, kUint},
    {CL_DEVICE_IL_VERSION, kText},
    {CL_DEVICE_ILS_WITH_VERSION, name_versions},
    {CL_DEVICE_IMAGE2D_MAX_WIDTH, kSize},
    {CL_DEVICE_IMAGE2D_MAX_HEIGHT, kSize},
    {CL_DEVICE_IMAGE3D_MAX_WIDTH, kSize},
    {CL_DEVICE_IMAGE3D_MAX_HEIGHT, kSize},
    {CL_DEVICE_IMAGE3D_MAX_DEPTH, kSize},
    {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, kSize},
    {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, kSize},
    {CL_DEVICE_MAX_SAMPLERS, kUint},
    {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, kUint},
    {CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, kUint},
    {CL_DEVICE_MAX_PIPE_ARGS, kUint},
    {CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, kUint},
    {CL_DEVICE_PIPE_MAX_PACKET_SIZE, kUint},
    {CL_DEVICE_MAX_PARAMETER_SIZE, kSize},
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN, kUint},
    {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, kUint},
    {CL_DEVICE_SINGLE_FP_CONFIG, kUlong},
    {CL_DEVICE_DOUBLE_FP_CONFIG, kUlong},
    {CL_DEVICE_HALF_FP_CONFIG, if_said<number_as<cl_ulong>>},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, kUint},
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, kUint},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, kUlong},
    {CL_DEVICE_GLOBAL_MEM_SIZE, kUlong},
    {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, kUlong},
    {CL_DEVICE_MAX_CONSTANT_ARGS, kUint},
    {CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, kSize},
    {CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, kSize},
    {CL_DEVICE_LOCAL_MEM_TYPE, kUint},
    {CL_DEVICE_LOCAL_MEM_SIZE, kUlong},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, kBool},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, kBool},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, kSize},
    {CL_DEVICE_ENDIAN_LITTLE, kBool},
    {CL_DEVICE_AVAILABLE, available},
    {CL_DEVICE_COMPILER_AVAILABLE, kBool},
    {CL_DEVICE_LINKER_AVAILABLE, kBool},
    {CL_DEVICE_EXECUTION_CAPABILITIES, kUlong},
    {CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, kUlong}, // and CL_DEVICE_QUEUE_PROPERTIES: the same number
    {CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, kUlong},
    {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, kUint},
    {CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, kUint},
    {CL_DEVICE_MAX_ON_DEVICE_QUEUES, kUint},
    {CL_DEVICE_MAX_ON_DEVICE_EVENTS, kUint},
    {CL_DEVICE_BUILT_IN_KERNELS, kText},
    {CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, name_versions},
    {CL_DEVICE_PLATFORM, platform_handle},
    {CL_DEVICE_NAME, own_name},
    {CL_DEVICE_VENDOR, kText},
    {CL_DRIVER_VERSION, driver_version},
    {CL_DEVICE_PROFILE, kText},
    {CL_DEVICE_VERSION, kText},
    {CL_DEVICE_NUMERIC_VERSION, numeric_version},
    {CL_DEVICE_OPENCL_C_VERSION, kText},
    {CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, opencl_c_numeric_version},
    {CL_DEVICE_OPENCL_C_ALL_VERSIONS, opencl_c_versions},
    {CL_DEVICE_OPENCL_C_FEATURES, name_versions},
    {CL_DEVICE_EXTENSIONS, kText},
    {CL_DEVICE_EXTENSIONS_WITH_VERSION, extensions_with_version},
    {CL_DEVICE_PRINTF_BUFFER_SIZE, kSize},
    {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, kBool},
    {CL_DEVICE_PARENT_DEVICE, no_parent},
    {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, kUint},
    {CL_DEVICE_PARTITION_PROPERTIES, partition_list},
    {CL_DEVICE_PARTITION_AFFINITY_DOMAIN, kUlong},
    {CL_DEVICE_PARTITION_TYPE, partition_list},
    {CL_DEVICE_REFERENCE_COUNT, root_count},
    {CL_DEVICE_SVM_CAPABILITIES, kUlong},
    {CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, kUint},
    {CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, kUint},
    {CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, kUint},
    {CL_DEVICE_MAX_NUM_SUB_GROUPS, kUint},
    {CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, kBool},
    {CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, kUlong},
    {CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, kUlong},
    {CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, kBool},
    {CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, kBool},
    {CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, kBool},
    {CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, kUlong},
    {CL_DEVICE_PIPE_SUPPORT, kBool},
    {CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, kSize},
    {CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, conformance_version},
};

} // namespace

cl_int device_info(Device& device, cl_device_info name, const InfoSink& sink) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const DeviceRow& one) { return one.name == name; });
  return row == std::end(kRows) ? CL_INVALID_VALUE : row->answer(device, name, sink);
}

} // namespace farcl::driver
