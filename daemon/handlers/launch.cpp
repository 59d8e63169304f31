// Kernel launches: the hot path. A launch is checked against what the build said about the kernel and turned into a Launch that
// refers to the command's own copies.
#include "daemon/handlers/handlers.hpp"
#include "farcl/base/trace.hpp"

#include <cstring>

namespace farcl::daemon {

namespace {
/// Argument values of one launch up to this much are part of the command's own cost.
constexpr std::size_t kUncountedValueBytes = 1024;
/// Work-items of one launch: far above what runs in a lifetime, far below what could overflow.
constexpr std::uint64_t kMaxWorkItems = std::uint64_t{1} << 56;

std::size_t value_alignment(const ArgumentInfo& info) {
  // Not std::has_single_bit: where the processor's popcount may not be used that is a call of a function.
  const std::size_t alignment = info.alignment_bytes;
  return alignment != 0 && (alignment & (alignment - 1)) == 0 && alignment <= sizeof(ValueBlock) ? alignment : sizeof(ValueBlock);
}

/// True if the product of the three is at most `limit`.
bool product_within(const std::array<std::uint64_t, 3>& sizes, std::uint64_t limit, std::uint64_t& product) {
  product = 1;
  for (const std::uint64_t size : sizes) {
    if (__builtin_mul_overflow(product, size, &product) || product > limit) {
      return false;
    }
  }
  return true;
}

/// Whether every group is full, with this or a required local size.
bool groups_are_full(const std::array<std::uint64_t, 3>& global, const std::array<std::uint64_t, 3>& local) {
  return global[0] % local[0] == 0 && global[1] % local[1] == 0 && global[2] % local[2] == 0;
}

cl_int check_range(const protocol::EnqueueKernel& message, const KernelInfo& info) {
  if (message.work_dim < 1 || message.work_dim > 3) {
    return CL_INVALID_WORK_DIMENSION;
  }
  const bool has_local = message.local_size != std::array<std::uint64_t, 3>{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (i >= message.work_dim && message.global_size[i] != 1) {
      return CL_INVALID_GLOBAL_WORK_SIZE;
    }
    if (i >= message.work_dim && has_local && message.local_size[i] != 1) {
      return CL_INVALID_WORK_GROUP_SIZE;
    }
    if (std::uint64_t end = 0; __builtin_add_overflow(message.global_offset[i], message.global_size[i], &end)) {
      return CL_INVALID_GLOBAL_OFFSET;
    }
  }
  std::uint64_t items = 0;
  if (!product_within(message.global_size, kMaxWorkItems, items)) {
    return CL_INVALID_GLOBAL_WORK_SIZE;
  }
  if (has_local) {
    if (!product_within(message.local_size, info.max_work_group_size, items) || items == 0) {
      return CL_INVALID_WORK_GROUP_SIZE;
    }
    if (info.required_work_group_size[0] != 0 && message.local_size != info.required_work_group_size) {
      return CL_INVALID_WORK_GROUP_SIZE;
    }
  }
  const auto& local = has_local ? message.local_size : info.required_work_group_size;
  if (info.uniform_work_groups && local[0] != 0 && !groups_are_full(message.global_size, local)) {
    return CL_INVALID_WORK_GROUP_SIZE;
  }
  return CL_SUCCESS;
}
} // namespace

Status Handlers::handle(protocol::EnqueueKernel&& message) {
  trace(TracePoint::kDecoded);
  auto command = new_command(message.command);
  if (!command) {
    return pass_on(std::move(command));
  }
  set_up_launch(**command, message);
  return enter(**command, message.command);
}

void Handlers::set_up_launch(Command& command, const protocol::EnqueueKernel& message) {
  const auto* program = state_.programs.find(message.program);
  if (program == nullptr || (*program)->context != command.queue->context) {
    command.failure = program == nullptr ? CL_INVALID_PROGRAM : CL_INVALID_CONTEXT;
    return;
  }
  const BuildResult* build = (*program)->build_for(&command.queue->device->builder());
  if (build == nullptr || build->program == nullptr) {
    command.failure = CL_INVALID_PROGRAM_EXECUTABLE;
    return;
  }
  const DeviceKernel* kernel = build->program->kernel(message.kernel_index);
  if (kernel == nullptr) {
    command.failure = CL_INVALID_KERNEL;
    return;
  }
  command.failure = check_range(message, kernel->info());
  if (command.failure != CL_SUCCESS || !set_up_arguments(command, message, kernel->info())) {
    return;
  }
  if (message.global_size[0] == 0 || message.global_size[1] == 0 || message.global_size[2] == 0) {
    return; // allowed since OpenCL 2.1: completes like a marker
  }
  command.program = build->program;
  command.work = Launch{
      kernel, {message.work_dim, message.global_offset, message.global_size, message.local_size}, command.arguments, command.value_bytes()};
}

bool Handlers::set_up_arguments(Command& command, const protocol::EnqueueKernel& message, const KernelInfo& info) {
  if (message.arguments.size() != info.arguments.size()) {
    command.failure = CL_INVALID_KERNEL_ARGS;
    return false;
  }
  std::size_t value_bytes = 0;
  std::uint64_t local_bytes = info.static_local_bytes;
  for (std::size_t i = 0; i < info.arguments.size(); ++i) {
    const cl_int failure = set_up_argument(command, message.arguments[i], info.arguments[i], value_bytes);
    if (failure != CL_SUCCESS) {
      command.failure = failure;
      return false;
    }
    if (command.arguments.back().kind == ArgumentKind::kLocal &&
        __builtin_add_overflow(local_bytes, command.arguments.back().size_bytes, &local_bytes)) {
      local_bytes = UINT64_MAX;
    }
  }
  if (local_bytes > command.queue->device->local_memory_bytes()) {
    command.failure = CL_OUT_OF_RESOURCES;
    return false;
  }
  if (value_bytes > kUncountedValueBytes && !(command.share = state_.staging.take(value_bytes))) {
    command.failure = CL_OUT_OF_RESOURCES;
    return false;
  }
  command.reserve_values(value_bytes);
  for (std::size_t i = 0; i < message.arguments.size(); ++i) {
    if (const auto* value = std::get_if<protocol::ValueArgument>(&message.arguments[i]); value != nullptr) {
      std::memcpy(command.value_bytes() + command.arguments[i].value_offset, value->bytes.data(), value->bytes.size());
    }
  }
  return true;
}

/// Appends one argument; `value_bytes` grows by the room that its value needs.
cl_int Handlers::set_up_argument(Command& command, const protocol::KernelArgument& argument, const ArgumentInfo& info,
                                 std::size_t& value_bytes) {
  LaunchArgument& made = command.arguments.emplace_back();
  made.kind = info.kind;
  if (const auto* value = std::get_if<protocol::ValueArgument>(&argument); value != nullptr) {
    if (info.kind != ArgumentKind::kValue) {
      return CL_INVALID_ARG_VALUE;
    }
    if (value->bytes.size() != info.size_bytes || value->bytes.empty()) {
      return CL_INVALID_ARG_SIZE;
    }
    const std::size_t alignment = value_alignment(info);
    value_bytes = (value_bytes + alignment - 1) & ~(alignment - 1);
    made.value_offset = static_cast<std::uint32_t>(value_bytes);
    made.size_bytes = value->bytes.size();
    value_bytes += value->bytes.size();
    return CL_SUCCESS;
  }
  if (const auto* buffer = std::get_if<protocol::BufferArgument>(&argument); buffer != nullptr) {
    if (info.kind != ArgumentKind::kGlobal && info.kind != ArgumentKind::kConstant) {
      return CL_INVALID_ARG_VALUE;
    }
    if (buffer->buffer) {
      const Buffer* used = use_buffer(command, buffer->buffer);
      if (used == nullptr) {
        return command.failure;
      }
      made.place = used->place();
    }
    return CL_SUCCESS;
  }
  made.size_bytes = std::get<protocol::LocalArgument>(argument).size_bytes;
  return info.kind == ArgumentKind::kLocal && made.size_bytes != 0 ? CL_SUCCESS : CL_INVALID_ARG_SIZE;
}

} // namespace farcl::daemon
