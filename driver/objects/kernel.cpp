#include "driver/objects/kernel.hpp"

#include <cstring>

namespace farcl::driver {

namespace {
/// An argument that has not been set, as the protocol has it. A value's bytes are zeros.
protocol::KernelArgument unset_argument(const ArgumentInfo& info, ByteVector& zeros) {
  switch (info.kind) {
  case ArgumentKind::kGlobal:
  case ArgumentKind::kConstant: return protocol::BufferArgument{};
  case ArgumentKind::kLocal: return protocol::LocalArgument{};
  case ArgumentKind::kValue:
  case ArgumentKind::kImage:
  case ArgumentKind::kSampler: break;
  }
  zeros.resize(info.size_bytes);
  return protocol::ValueArgument{zeros};
}

/// The bytes that change when an argument is set are its last ones.
std::size_t changing_bytes(const protocol::KernelArgument& argument) {
  const auto* value = std::get_if<protocol::ValueArgument>(&argument);
  return value != nullptr ? value->bytes.size() : sizeof(std::uint64_t);
}
} // namespace

Kernel::Kernel(Program& program, std::shared_ptr<const ProgramInfo> info, std::uint32_t index)
    : program_(&program), info_(std::move(info)), index_(index) {
  const std::vector<ArgumentInfo>& arguments = this->info().arguments;
  is_set_.resize(arguments.size());
  unset_count_ = static_cast<std::uint32_t>(arguments.size());
  Writer writer(encoded_);
  writer.write(static_cast<std::uint64_t>(arguments.size())); // a vector's encoding: its count, then its elements
  for (const ArgumentInfo& one : arguments) {
    ByteVector zeros;
    const protocol::KernelArgument argument = unset_argument(one, zeros);
    writer.write(argument);
    places_.push_back(static_cast<std::uint32_t>(encoded_.size() - changing_bytes(argument)));
    if (std::holds_alternative<protocol::BufferArgument>(argument)) {
      buffer_places_.push_back(places_.back());
    }
  }
  program.kernel_count().fetch_add(1, std::memory_order_relaxed);
}

Kernel::Kernel(const Kernel& other)
    : Object(), program_(other.program_), info_(other.info_), index_(other.index_), encoded_(other.encoded_), places_(other.places_),
      buffer_places_(other.buffer_places_), is_set_(other.is_set_), unset_count_(other.unset_count_),
      local_argument_bytes_(other.local_argument_bytes_) {
  program_->kernel_count().fetch_add(1, std::memory_order_relaxed);
}

Kernel::~Kernel() { program_->kernel_count().fetch_sub(1, std::memory_order_relaxed); }

void Kernel::store(std::uint32_t index, const void* bytes, std::size_t size) {
  std::memcpy(encoded_.data() + places_[index], bytes, size);
  if (!is_set_[index]) {
    is_set_[index] = true;
    --unset_count_;
  }
}

void Kernel::set_value(std::uint32_t index, ConstBytes value) {
  FARCL_ASSERT(value.size() == info().arguments[index].size_bytes);
  store(index, value.data(), value.size());
}

void Kernel::set_buffer(std::uint32_t index, protocol::BufferId buffer) { store(index, &buffer.value, sizeof buffer.value); }

void Kernel::set_local(std::uint32_t index, std::uint64_t size_bytes) {
  std::uint64_t before = 0;
  std::memcpy(&before, encoded_.data() + places_[index], sizeof before);
  local_argument_bytes_ += size_bytes - before;
  store(index, &size_bytes, sizeof size_bytes);
}

} // namespace farcl::driver
