// Checks of kernels: the value of one argument, and the index space of a launch. Pure functions.
#pragma once

#include "driver/icd/opencl.hpp"
#include "farcl/base/bytes.hpp"
#include "farcl/base/kernel_info.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace farcl::driver::validate {

/// What clSetKernelArg says about one argument, before any memory object is looked up.
struct ArgumentValue {
  enum class Kind { kValue, kBuffer, kLocal };
  Kind kind = Kind::kValue;
  ConstBytes bytes;              ///< kValue: the program's memory
  cl_mem buffer = nullptr;       ///< kBuffer: not looked up yet; null: a null pointer
  std::uint64_t local_bytes = 0; ///< kLocal
};
/// CL_INVALID_ARG_VALUE, CL_INVALID_MEM_OBJECT (an image), CL_INVALID_SAMPLER or CL_INVALID_ARG_SIZE.
[[nodiscard]] cl_int kernel_argument(const ArgumentInfo& info, std::size_t arg_size, const void* arg_value, ArgumentValue& value);

/// What a launch may ask of a device; from its properties.
struct NdRangeLimits {
  std::uint64_t max_dimensions = 3;                   ///< CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS
  std::array<std::uint64_t, 3> max_work_item_sizes{}; ///< CL_DEVICE_MAX_WORK_ITEM_SIZES
  std::uint64_t max_work_group_size = 0;              ///< CL_DEVICE_MAX_WORK_GROUP_SIZE
  std::uint64_t address_bits = 64;                    ///< CL_DEVICE_ADDRESS_BITS
  std::uint64_t local_memory_bytes = 0;               ///< CL_DEVICE_LOCAL_MEM_SIZE
  bool empty_range_allowed = true;                    ///< OpenCL 2.1 and newer
};

struct NdRange {
  cl_uint work_dim = 1;
  std::array<std::uint64_t, 3> global_offset{};
  std::array<std::uint64_t, 3> global_size{1, 1, 1};
  std::array<std::uint64_t, 3> local_size{}; ///< zeros: the device chooses
  bool is_empty = false;                     ///< nothing runs: the command waits for its list and completes
};
/// CL_INVALID_WORK_DIMENSION, CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_GLOBAL_OFFSET, CL_INVALID_WORK_GROUP_SIZE,
/// CL_INVALID_WORK_ITEM_SIZE, or CL_OUT_OF_RESOURCES when the kernel's local memory does not fit.
/// `local_argument_bytes`: what the __local arguments ask for.
[[nodiscard]] cl_int nd_range(const KernelInfo& kernel, const NdRangeLimits& limits, std::uint64_t local_argument_bytes, cl_uint work_dim,
                              const std::size_t* offset, const std::size_t* global, const std::size_t* local, NdRange& range);

} // namespace farcl::driver::validate
