#include "daemon/backends/cpu/launch.hpp"

#include "daemon/backends/cpu/local_size.hpp"

#include <algorithm>

namespace farcl::daemon {

namespace {
constexpr std::uint64_t align_local(std::uint64_t offset) {
  return (offset + FARCL_KERNEL_MEMORY_ALIGNMENT - 1) / FARCL_KERNEL_MEMORY_ALIGNMENT * FARCL_KERNEL_MEMORY_ALIGNMENT;
}
static_assert(kMemoryAlignment >= FARCL_KERNEL_MEMORY_ALIGNMENT);
} // namespace

std::byte* ThreadScratch::grow(MemoryPtr& memory, std::uint64_t size_bytes) {
  if (memory == nullptr || memory->size_bytes() < size_bytes) {
    auto larger = HostMemory::allocate(std::max<std::uint64_t>(size_bytes, 4096));
    if (!larger) {
      return nullptr;
    }
    memory = std::move(*larger);
  }
  return memory->host_pointer();
}

void PreparedLaunch::prepare(const Launch& launch, unsigned threads) {
  const auto& kernel = static_cast<const CpuKernel&>(*launch.kernel);
  function_ = kernel.function();
  // Programs launch the same kernel over the same range again and again: what follows from these two is kept.
  if (info_ != &kernel.info() || range_ != launch.range) {
    info_ = &kernel.info();
    range_ = launch.range;
    lay_out(threads);
  }
  abi_.printf_context = nullptr;
  abi_.printf_write = nullptr;
  prepare_arguments(launch);
}

void PreparedLaunch::lay_out(unsigned threads) {
  const auto local = range_.local_size[0] != 0 ? range_.local_size : choose_local_size(range_, *info_, threads);
  abi_.work_dim = range_.work_dim;
  groups_ = 1;
  items_per_group_ = 1;
  uniform_ = true;
  for (std::size_t i = 0; i < 3; ++i) {
    abi_.global_size[i] = range_.global_size[i];
    abi_.global_offset[i] = range_.global_offset[i];
    abi_.local_size[i] = local[i];
    abi_.num_groups[i] = (range_.global_size[i] - 1) / local[i] + 1;
    uniform_ = uniform_ && range_.global_size[i] % local[i] == 0;
    groups_ *= abi_.num_groups[i];
    items_per_group_ *= std::min(local[i], range_.global_size[i]);
  }
}

void PreparedLaunch::prepare_arguments(const Launch& launch) {
  const std::size_t count = launch.arguments.size();
  pointers_.resize(count);
  addresses_.resize(count);
  regions_.clear();
  local_bytes_ = align_local(info_->static_local_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const LaunchArgument& argument = launch.arguments[i];
    pointers_[i] = &addresses_[i];
    switch (argument.kind) {
    case ArgumentKind::kValue:
      pointers_[i] = const_cast<std::byte*>(launch.values + argument.value_offset); // the kernel only reads it
      break;
    case ArgumentKind::kLocal:
      regions_.push_back({i, local_bytes_});
      local_bytes_ = align_local(local_bytes_ + argument.size_bytes);
      break;
    default: addresses_[i] = argument.place.memory == nullptr ? nullptr : argument.place.memory->host_pointer() + argument.place.offset;
    }
  }
}

/// Threads share the argument array unless a __local argument makes it their own.
void* const* PreparedLaunch::arguments_for(ThreadScratch& scratch, std::byte* local) const {
  if (regions_.empty()) {
    return pointers_.data();
  }
  scratch.pointers = pointers_;
  scratch.addresses.resize(regions_.size());
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    scratch.addresses[i] = local + regions_[i].offset;
    scratch.pointers[regions_[i].argument] = &scratch.addresses[i];
  }
  return scratch.pointers.data();
}

void PreparedLaunch::set_size_of_group(FarclGroup& group) const {
  for (std::size_t i = 0; i < 3; ++i) {
    group.local_size[i] = std::min(abi_.local_size[i], abi_.global_size[i] - group.group_id[i] * abi_.local_size[i]);
  }
}

cl_int PreparedLaunch::run(std::uint64_t first, std::uint64_t last, ThreadScratch& scratch) const {
  const std::uint64_t frame_bytes = info_->frame_bytes_per_item * items_per_group_;
  FarclGroup group{};
  if (local_bytes_ != 0) {
    group.local_memory = scratch.local(local_bytes_);
  }
  if (frame_bytes != 0) {
    group.frames = scratch.frames(frame_bytes);
  }
  if ((local_bytes_ != 0 && group.local_memory == nullptr) || (frame_bytes != 0 && group.frames == nullptr)) {
    return CL_OUT_OF_RESOURCES;
  }
  void* const* arguments = arguments_for(scratch, static_cast<std::byte*>(group.local_memory));
  group.group_id[0] = first % abi_.num_groups[0];
  group.group_id[1] = first / abi_.num_groups[0] % abi_.num_groups[1];
  group.group_id[2] = first / abi_.num_groups[0] / abi_.num_groups[1];
  std::copy_n(abi_.local_size, 3, group.local_size);
  for (std::uint64_t i = first; i < last; ++i) {
    if (!uniform_) {
      set_size_of_group(group);
    }
    function_(&abi_, &group, arguments);
    if (++group.group_id[0] == abi_.num_groups[0]) {
      group.group_id[0] = 0;
      if (++group.group_id[1] == abi_.num_groups[1]) {
        group.group_id[1] = 0;
        ++group.group_id[2];
      }
    }
  }
  return CL_COMPLETE;
}

} // namespace farcl::daemon
