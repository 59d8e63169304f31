#include "driver/validate/kernel.hpp"

#include "farcl/protocol/limits.hpp"

#include <cstring>

namespace farcl::driver::validate {
namespace {

cl_int value_argument(const ArgumentInfo& info, std::size_t arg_size, const void* arg_value, ArgumentValue& value) {
  if (arg_value == nullptr) {
    return CL_INVALID_ARG_VALUE;
  }
  if (arg_size != info.size_bytes || arg_size > protocol::kMaxKernelArgumentBytes) { // beyond any CL_DEVICE_MAX_PARAMETER_SIZE
    return CL_INVALID_ARG_SIZE;
  }
  value.kind = ArgumentValue::Kind::kValue;
  value.bytes = ConstBytes(static_cast<const std::byte*>(arg_value), arg_size);
  return CL_SUCCESS;
}

cl_int buffer_argument(std::size_t arg_size, const void* arg_value, ArgumentValue& value) {
  if (arg_size != sizeof(cl_mem)) {
    return CL_INVALID_ARG_SIZE;
  }
  value.kind = ArgumentValue::Kind::kBuffer;
  value.buffer = nullptr;
  if (arg_value != nullptr) {
    std::memcpy(&value.buffer, arg_value, sizeof value.buffer); // programs point into packed structs too
  }
  return CL_SUCCESS;
}

cl_int local_argument(std::size_t arg_size, const void* arg_value, ArgumentValue& value) {
  if (arg_value != nullptr) {
    return CL_INVALID_ARG_VALUE;
  }
  if (arg_size == 0) {
    return CL_INVALID_ARG_SIZE;
  }
  value.kind = ArgumentValue::Kind::kLocal;
  value.local_bytes = arg_size;
  return CL_SUCCESS;
}

/// The largest size_t of the device.
std::uint64_t largest_size(const NdRangeLimits& limits) {
  return limits.address_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << limits.address_bits) - 1;
}

cl_int global_size(const NdRangeLimits& limits, cl_uint work_dim, const std::size_t* global, NdRange& range) {
  if (global == nullptr) {
    range.is_empty = true;
    return limits.empty_range_allowed ? CL_SUCCESS : CL_INVALID_GLOBAL_WORK_SIZE;
  }
  for (cl_uint i = 0; i < work_dim; ++i) {
    if (global[i] > largest_size(limits) || (global[i] == 0 && !limits.empty_range_allowed)) {
      return CL_INVALID_GLOBAL_WORK_SIZE;
    }
    range.global_size[i] = global[i];
    range.is_empty |= global[i] == 0;
  }
  return CL_SUCCESS;
}

cl_int global_offset(const NdRangeLimits& limits, cl_uint work_dim, const std::size_t* offset, NdRange& range) {
  for (cl_uint i = 0; offset != nullptr && i < work_dim; ++i) {
    std::uint64_t end = 0;
    if (__builtin_add_overflow(std::uint64_t{offset[i]}, range.global_size[i], &end) || end > largest_size(limits)) {
      return CL_INVALID_GLOBAL_OFFSET;
    }
    range.global_offset[i] = offset[i];
  }
  return CL_SUCCESS;
}

bool has_required_size(const KernelInfo& kernel) { return kernel.required_work_group_size[0] != 0; }

/// Work-items of a group, or 0 when the product overflows or one of the sizes is 0: neither is a legal group.
std::uint64_t group_items(const std::array<std::uint64_t, 3>& local) {
  std::uint64_t items = 0;
  const bool overflows = __builtin_mul_overflow(local[0], local[1], &items) || __builtin_mul_overflow(items, local[2], &items);
  return overflows ? 0 : items;
}

cl_int local_size(const KernelInfo& kernel, const NdRangeLimits& limits, cl_uint work_dim, const std::size_t* local, NdRange& range) {
  if (local == nullptr && !has_required_size(kernel)) {
    return CL_SUCCESS;
  }
  std::array<std::uint64_t, 3> size = {1, 1, 1};
  for (cl_uint i = 0; i < 3; ++i) {
    if (local == nullptr) {
      size[i] = kernel.required_work_group_size[i];
    } else if (i < work_dim) {
      size[i] = local[i];
    }
  }
  const std::uint64_t items = group_items(size);
  const std::uint64_t most = kernel.max_work_group_size != 0 ? kernel.max_work_group_size : limits.max_work_group_size;
  if (items == 0 || (has_required_size(kernel) && size != kernel.required_work_group_size)) {
    return CL_INVALID_WORK_GROUP_SIZE;
  }
  for (cl_uint i = 0; i < 3; ++i) {
    if (kernel.uniform_work_groups && range.global_size[i] % size[i] != 0) {
      return CL_INVALID_WORK_GROUP_SIZE;
    }
    if (i < work_dim && size[i] > limits.max_work_item_sizes[i]) {
      return CL_INVALID_WORK_ITEM_SIZE;
    }
  }
  if (items > most) {
    return CL_INVALID_WORK_GROUP_SIZE;
  }
  range.local_size = size;
  return CL_SUCCESS;
}

} // namespace

cl_int kernel_argument(const ArgumentInfo& info, std::size_t arg_size, const void* arg_value, ArgumentValue& value) {
  switch (info.kind) {
  case ArgumentKind::kValue: return value_argument(info, arg_size, arg_value, value);
  case ArgumentKind::kGlobal:
  case ArgumentKind::kConstant: return buffer_argument(arg_size, arg_value, value);
  case ArgumentKind::kLocal: return local_argument(arg_size, arg_value, value);
  case ArgumentKind::kImage: return CL_INVALID_MEM_OBJECT; // there are no images, so nothing else can be meant
  case ArgumentKind::kSampler: return CL_INVALID_SAMPLER;  // nor samplers
  }
  return CL_INVALID_ARG_VALUE;
}

cl_int nd_range(const KernelInfo& kernel, const NdRangeLimits& limits, std::uint64_t local_argument_bytes, cl_uint work_dim,
                const std::size_t* offset, const std::size_t* global, const std::size_t* local, NdRange& range) {
  if (work_dim < 1 || work_dim > 3 || work_dim > limits.max_dimensions) {
    return CL_INVALID_WORK_DIMENSION;
  }
  range = NdRange{};
  range.work_dim = work_dim;
  if (const cl_int code = global_size(limits, work_dim, global, range); code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = global_offset(limits, work_dim, offset, range); code != CL_SUCCESS) {
    return code;
  }
  if (const cl_int code = local_size(kernel, limits, work_dim, local, range); code != CL_SUCCESS) {
    return code;
  }
  std::uint64_t local_memory = 0;
  if (__builtin_add_overflow(kernel.static_local_bytes, local_argument_bytes, &local_memory) || local_memory > limits.local_memory_bytes) {
    return CL_OUT_OF_RESOURCES;
  }
  return CL_SUCCESS;
}

} // namespace farcl::driver::validate
