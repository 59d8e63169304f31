#include "driver/objects/kernel.hpp"

#include <cstring>

namespace farcl::driver {

Kernel::Kernel(Program& program, std::shared_ptr<const ProgramInfo> info, std::uint32_t index)
    : program_(&program), info_(std::move(info)), index_(index) {
  const std::vector<ArgumentInfo>& arguments = this->info().arguments;
  arguments_.resize(arguments.size());
  is_set_.resize(arguments.size());
  value_offsets_.resize(arguments.size());
  unset_count_ = static_cast<std::uint32_t>(arguments.size());
  std::size_t storage = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    switch (arguments[i].kind) {
    case ArgumentKind::kGlobal:
    case ArgumentKind::kConstant: arguments_[i] = protocol::BufferArgument{}; break;
    case ArgumentKind::kLocal: arguments_[i] = protocol::LocalArgument{}; break;
    case ArgumentKind::kValue:
    case ArgumentKind::kImage:
    case ArgumentKind::kSampler:
      value_offsets_[i] = static_cast<std::uint32_t>(storage);
      storage += arguments[i].size_bytes;
      break;
    }
  }
  value_storage_.resize(storage);
  point_values_at_storage();
  program.kernel_count().fetch_add(1, std::memory_order_relaxed);
}

Kernel::Kernel(const Kernel& other)
    : Object(), program_(other.program_), info_(other.info_), index_(other.index_), arguments_(other.arguments_), is_set_(other.is_set_),
      value_offsets_(other.value_offsets_), value_storage_(other.value_storage_), unset_count_(other.unset_count_),
      local_argument_bytes_(other.local_argument_bytes_) {
  point_values_at_storage();
  program_->kernel_count().fetch_add(1, std::memory_order_relaxed);
}

Kernel::~Kernel() { program_->kernel_count().fetch_sub(1, std::memory_order_relaxed); }

void Kernel::point_values_at_storage() {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (auto* value = std::get_if<protocol::ValueArgument>(&arguments_[i])) {
      value->bytes = ConstBytes(value_storage_).subspan(value_offsets_[i], info().arguments[i].size_bytes);
    }
  }
}

void Kernel::mark_set(std::uint32_t index) {
  if (!is_set_[index]) {
    is_set_[index] = true;
    --unset_count_;
  }
}

void Kernel::set_value(std::uint32_t index, ConstBytes value) {
  FARCL_ASSERT(value.size() == info().arguments[index].size_bytes);
  std::memcpy(value_storage_.data() + value_offsets_[index], value.data(), value.size());
  mark_set(index);
}

void Kernel::set_buffer(std::uint32_t index, protocol::BufferId buffer) {
  arguments_[index] = protocol::BufferArgument{buffer};
  mark_set(index);
}

void Kernel::set_local(std::uint32_t index, std::uint64_t size_bytes) {
  auto& argument = std::get<protocol::LocalArgument>(arguments_[index]);
  local_argument_bytes_ += size_bytes - argument.size_bytes;
  argument.size_bytes = size_bytes;
  mark_set(index);
}

} // namespace farcl::driver
