// The CPU device's answers to clGetDeviceInfo: this machine as it is, and what FarCL's compiler offers.
#include "daemon/backends/cpu/cpu_backend.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace farcl::daemon {

namespace {
/// The extensions of the language that kernel-compiler/src/front_end.cpp turns on, and no others.
constexpr const char* kExtensions[] = {"cl_khr_byte_addressable_store",        "cl_khr_global_int32_base_atomics",
                                       "cl_khr_global_int32_extended_atomics", "cl_khr_local_int32_base_atomics",
                                       "cl_khr_local_int32_extended_atomics",  "cl_khr_int64_base_atomics",
                                       "cl_khr_int64_extended_atomics",        "cl_khr_fp64"};
constexpr std::uint64_t kMaxWorkGroupSize = 4096;
constexpr int kMaxCaches = 16;
constexpr std::uint64_t kUsualCacheBytes = 256u << 10; ///< where nothing is known
constexpr std::uint64_t kFpConfig =
    CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;

class Properties {
public:
  explicit Properties(protocol::DeviceInfo& info) : info_(info) {}
  void number(cl_device_info name, std::uint64_t value) { numbers(name, {value}); }
  void numbers(cl_device_info name, std::vector<std::uint64_t> values) { info_.properties.push_back({name, std::move(values)}); }
  void text(cl_device_info name, std::string value) { info_.properties.push_back({name, std::move(value)}); }

private:
  protocol::DeviceInfo& info_;
};

/// "model name", "vendor_id", "cpu MHz" of /proc/cpuinfo; empty if this machine's has no such line.
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) == 0 && line.find(':') != std::string::npos) {
      const std::size_t start = line.find_first_not_of(' ', line.find(':') + 1);
      return start == std::string::npos ? "" : line.substr(start);
    }
  }
  return {};
}

std::uint64_t max_clock_mhz() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  std::uint64_t khz = 0;
  if (file >> khz) {
    return khz / 1000;
  }
  const std::string text = cpuinfo("cpu MHz");
  std::uint64_t mhz = 0;
  std::from_chars(text.data(), text.data() + text.size(), mhz);
  return mhz;
}

/// What the kernel says: sysconf computes its own from CPUID, which virtual machines do not always get right. "36608K".
std::uint64_t largest_cache_bytes() {
  std::uint64_t largest = 0;
  for (int index = 0; index < kMaxCaches; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    std::uint64_t size = 0;
    char unit = 0;
    if (file >> size) {
      file >> unit;
      largest = std::max(largest, unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size);
    }
  }
  return largest != 0 ? largest : kUsualCacheBytes;
}

std::uint64_t system_value(int name, std::uint64_t otherwise) {
  const long value = ::sysconf(name);
  return value > 0 ? static_cast<std::uint64_t>(value) : otherwise;
}

/// Bytes of the widest vector register that the compiler may use.
std::uint64_t vector_bytes() {
#if defined(__x86_64__) || defined(__i386__)
  if (__builtin_cpu_supports("avx512f")) {
    return 64;
  }
  return __builtin_cpu_supports("avx") ? 32 : 16;
#else
  return 16;
#endif
}

void describe_identity(Properties& out) {
  std::string name = cpuinfo("model name");
  std::string vendor = cpuinfo("vendor_id");
  out.number(CL_DEVICE_TYPE, CL_DEVICE_TYPE_CPU);
  // PCI's numbers of the makers of x86 processors.
  out.number(CL_DEVICE_VENDOR_ID, vendor == "GenuineIntel" ? 0x8086 : vendor == "AuthenticAMD" ? 0x1022 : 0);
  out.text(CL_DEVICE_NAME, name.empty() ? "CPU" : name);
  out.text(CL_DEVICE_VENDOR, vendor.empty() ? "unknown" : vendor);
  out.text(CL_DRIVER_VERSION, FARCL_VERSION_TEXT);
  out.text(CL_DEVICE_PROFILE, "FULL_PROFILE");
  out.text(CL_DEVICE_VERSION, "OpenCL 3.0 FarCL " FARCL_VERSION_TEXT);
  out.number(CL_DEVICE_NUMERIC_VERSION, CL_MAKE_VERSION(3, 0, 0));
  out.text(CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 FarCL");
  out.text(CL_DEVICE_OPENCL_C_ALL_VERSIONS, "OpenCL C:1.0.0;OpenCL C:1.1.0;OpenCL C:1.2.0;OpenCL C:3.0.0");
  out.text(CL_DEVICE_OPENCL_C_FEATURES, "__opencl_c_int64:3.0.0;__opencl_c_fp64:3.0.0");
  std::string extensions;
  std::string versions;
  for (const char* extension : kExtensions) {
    extensions += (extensions.empty() ? "" : " ") + std::string(extension);
    versions += (versions.empty() ? "" : ";") + std::string(extension) + ":1.0.0";
  }
  out.text(CL_DEVICE_EXTENSIONS, extensions);
  out.text(CL_DEVICE_EXTENSIONS_WITH_VERSION, versions);
  out.text(CL_DEVICE_ILS_WITH_VERSION, "");
  out.text(CL_DEVICE_IL_VERSION, "");
  out.text(CL_DEVICE_BUILT_IN_KERNELS, "");
  out.text(CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, "");
  out.text(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, "");
}

void describe_execution(Properties& out, const CpuOptions& options) {
  out.number(CL_DEVICE_MAX_COMPUTE_UNITS, options.threads);
  out.number(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3);
  out.numbers(CL_DEVICE_MAX_WORK_ITEM_SIZES, {kMaxWorkGroupSize, kMaxWorkGroupSize, kMaxWorkGroupSize});
  out.number(CL_DEVICE_MAX_WORK_GROUP_SIZE, kMaxWorkGroupSize);
  out.number(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, vector_bytes() / 4);
  const std::uint64_t vector = vector_bytes();
  out.number(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, std::min<std::uint64_t>(vector, 16));
  out.number(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, std::min<std::uint64_t>(vector / 2, 16));
  out.number(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, vector / 4);
  out.number(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, vector / 8);
  out.number(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, vector / 4);
  out.number(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, vector / 8);
  out.number(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, 0);
  out.number(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, std::min<std::uint64_t>(vector, 16));
  out.number(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, std::min<std::uint64_t>(vector / 2, 16));
  out.number(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, vector / 4);
  out.number(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, vector / 8);
  out.number(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, vector / 4);
  out.number(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, vector / 8);
  out.number(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 0);
  out.number(CL_DEVICE_MAX_CLOCK_FREQUENCY, max_clock_mhz());
  out.number(CL_DEVICE_ADDRESS_BITS, 64);
  out.number(CL_DEVICE_ENDIAN_LITTLE, CL_TRUE);
  out.number(CL_DEVICE_AVAILABLE, CL_TRUE);
  out.number(CL_DEVICE_COMPILER_AVAILABLE, CL_TRUE);
  out.number(CL_DEVICE_LINKER_AVAILABLE, CL_TRUE);
  out.number(CL_DEVICE_EXECUTION_CAPABILITIES, CL_EXEC_KERNEL);
  out.number(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
  out.number(CL_DEVICE_PROFILING_TIMER_RESOLUTION, 1);
  out.number(CL_DEVICE_ERROR_CORRECTION_SUPPORT, CL_FALSE);
  out.number(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, CL_TRUE);
  out.number(CL_DEVICE_PRINTF_BUFFER_SIZE, 1u << 20);
  out.number(CL_DEVICE_SINGLE_FP_CONFIG, kFpConfig | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
  out.number(CL_DEVICE_DOUBLE_FP_CONFIG, kFpConfig);
  out.number(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 0);
  out.numbers(CL_DEVICE_PARTITION_PROPERTIES, {});
  out.numbers(CL_DEVICE_PARTITION_TYPE, {});
  out.number(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, 0);
  out.number(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP);
  out.number(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES,
             CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP);
  out.number(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, CL_TRUE);
}

void describe_memory(Properties& out, const CpuOptions& options) {
  out.number(CL_DEVICE_GLOBAL_MEM_SIZE, options.memory_bytes);
  // The specification wants at least a quarter; one buffer may be as large as all of it.
  out.number(CL_DEVICE_MAX_MEM_ALLOC_SIZE, options.memory_bytes);
  out.number(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, options.memory_bytes);
  out.number(CL_DEVICE_MAX_CONSTANT_ARGS, kMaxKernelArguments);
  out.number(CL_DEVICE_MAX_PARAMETER_SIZE, 4352);
  out.number(CL_DEVICE_MEM_BASE_ADDR_ALIGN, kMemoryAlignment * 8);
  out.number(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, kMemoryAlignment);
  out.number(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, CL_READ_WRITE_CACHE);
  out.number(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, system_value(_SC_LEVEL1_DCACHE_LINESIZE, 64));
  out.number(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, largest_cache_bytes());
  out.number(CL_DEVICE_LOCAL_MEM_TYPE, CL_GLOBAL);
  out.number(CL_DEVICE_LOCAL_MEM_SIZE, kLocalMemoryBytes);
  out.number(CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE); // not the client's memory
  out.number(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, 0);
  out.number(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, 0);
  out.number(CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, 0);
  out.number(CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, 0);
  out.number(CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, 0);
}

/// Features of OpenCL that are optional and that this device does not have: all 0.
void describe_absent(Properties& out) {
  constexpr cl_device_info kAbsent[] = {CL_DEVICE_IMAGE_SUPPORT,
                                        CL_DEVICE_MAX_READ_IMAGE_ARGS,
                                        CL_DEVICE_MAX_WRITE_IMAGE_ARGS,
                                        CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS,
                                        CL_DEVICE_IMAGE2D_MAX_WIDTH,
                                        CL_DEVICE_IMAGE2D_MAX_HEIGHT,
                                        CL_DEVICE_IMAGE3D_MAX_WIDTH,
                                        CL_DEVICE_IMAGE3D_MAX_HEIGHT,
                                        CL_DEVICE_IMAGE3D_MAX_DEPTH,
                                        CL_DEVICE_IMAGE_MAX_BUFFER_SIZE,
                                        CL_DEVICE_IMAGE_MAX_ARRAY_SIZE,
                                        CL_DEVICE_MAX_SAMPLERS,
                                        CL_DEVICE_IMAGE_PITCH_ALIGNMENT,
                                        CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT,
                                        CL_DEVICE_MAX_PIPE_ARGS,
                                        CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS,
                                        CL_DEVICE_PIPE_MAX_PACKET_SIZE,
                                        CL_DEVICE_PIPE_SUPPORT,
                                        CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES,
                                        CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE,
                                        CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE,
                                        CL_DEVICE_MAX_ON_DEVICE_QUEUES,
                                        CL_DEVICE_MAX_ON_DEVICE_EVENTS,
                                        CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES,
                                        CL_DEVICE_SVM_CAPABILITIES,
                                        CL_DEVICE_MAX_NUM_SUB_GROUPS,
                                        CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS,
                                        CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT,
                                        CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT};
  for (const cl_device_info name : kAbsent) {
    out.number(name, 0);
  }
}
} // namespace

protocol::DeviceInfo cpu_device_info(const CpuOptions& options) {
  protocol::DeviceInfo info;
  info.backend = "cpu";
  Properties out(info);
  describe_identity(out);
  describe_execution(out, options);
  describe_memory(out, options);
  describe_absent(out);
  return info;
}

} // namespace farcl::daemon
