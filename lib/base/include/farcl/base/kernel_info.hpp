// What a build tells about its kernels: made by the compiler, sent with the build reply, answered from by the driver's queries.
#pragma once

#include "farcl/base/archive.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace farcl {

inline constexpr std::uint64_t kMaxKernelNameBytes = 16u << 10;
inline constexpr std::uint64_t kMaxKernelArguments = 1024;
inline constexpr std::uint64_t kMaxKernelsPerProgram = 4096;
inline constexpr std::uint64_t kMaxKernelAttributesBytes = 4096;
inline constexpr std::uint64_t kMaxTypeNameBytes = 1024;

enum class ArgumentKind : std::uint8_t {
  kValue,    ///< by value, `size_bytes` bytes
  kGlobal,   ///< pointer to __global: a buffer
  kConstant, ///< pointer to __constant: a buffer
  kLocal,    ///< pointer to __local: a size at launch
  kImage,
  kSampler,
};
constexpr bool is_known(ArgumentKind kind) { return kind <= ArgumentKind::kSampler; }

struct ArgumentInfo {
  std::string name;
  std::string type_name;               ///< as CL_KERNEL_ARG_TYPE_NAME wants it: "float4*"
  std::uint32_t address_qualifier = 0; ///< CL_KERNEL_ARG_ADDRESS_GLOBAL ...
  std::uint32_t access_qualifier = 0;  ///< CL_KERNEL_ARG_ACCESS_NONE ...
  std::uint64_t type_qualifier = 0;    ///< CL_KERNEL_ARG_TYPE_CONST | ...
  ArgumentKind kind = ArgumentKind::kValue;
  std::uint32_t size_bytes = 0;      ///< of a value; 8 for pointers
  std::uint32_t alignment_bytes = 0; ///< of a value, or of the pointed-to type for pointers (used for __local layout)

  static constexpr auto fields() {
    using T = ArgumentInfo;
    return std::tuple(field("name", &T::name, kMaxKernelNameBytes), field("type_name", &T::type_name, kMaxTypeNameBytes),
                      field("address_qualifier", &T::address_qualifier), field("access_qualifier", &T::access_qualifier),
                      field("type_qualifier", &T::type_qualifier), field("kind", &T::kind), field("size_bytes", &T::size_bytes),
                      field("alignment_bytes", &T::alignment_bytes));
  }
  friend bool operator==(const ArgumentInfo&, const ArgumentInfo&) = default;
};

struct KernelInfo {
  std::string name;
  std::string attributes; ///< CL_KERNEL_ATTRIBUTES
  std::vector<ArgumentInfo> arguments;
  std::array<std::uint64_t, 3> required_work_group_size{}; ///< reqd_work_group_size; zeros if none
  std::array<std::uint64_t, 3> work_group_size_hint{};
  std::uint64_t max_work_group_size = 0;  ///< CL_KERNEL_WORK_GROUP_SIZE
  std::uint64_t preferred_multiple = 1;   ///< CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE
  std::uint64_t static_local_bytes = 0;   ///< __local variables inside the kernel
  std::uint64_t private_bytes = 0;        ///< CL_KERNEL_PRIVATE_MEM_SIZE, per work-item
  std::uint64_t frame_bytes_per_item = 0; ///< scratch that the CPU runtime gives per work-item (kernels with barriers)
  std::uint64_t cost_per_item = 0;        ///< upper bound of instructions of one work-item; 0: not bounded (loops, barriers)
  bool uses_printf = false;
  bool uniform_work_groups = true; ///< built so that every work-group is full: the global size is a multiple of the local size

  static constexpr auto fields() {
    using T = KernelInfo;
    return std::tuple(field("name", &T::name, kMaxKernelNameBytes), field("attributes", &T::attributes, kMaxKernelAttributesBytes),
                      field("arguments", &T::arguments, kMaxKernelArguments),
                      field("required_work_group_size", &T::required_work_group_size),
                      field("work_group_size_hint", &T::work_group_size_hint), field("max_work_group_size", &T::max_work_group_size),
                      field("preferred_multiple", &T::preferred_multiple), field("static_local_bytes", &T::static_local_bytes),
                      field("private_bytes", &T::private_bytes), field("frame_bytes_per_item", &T::frame_bytes_per_item),
                      field("cost_per_item", &T::cost_per_item), field("uses_printf", &T::uses_printf),
                      field("uniform_work_groups", &T::uniform_work_groups));
  }
  friend bool operator==(const KernelInfo&, const KernelInfo&) = default;
};

struct ProgramInfo {
  std::vector<KernelInfo> kernels; ///< in the order of the source

  static constexpr auto fields() { return std::tuple(field("kernels", &ProgramInfo::kernels, kMaxKernelsPerProgram)); }
  friend bool operator==(const ProgramInfo&, const ProgramInfo&) = default;
};

} // namespace farcl
