// Commands other than kernel launches.
#include "daemon/device/rect_walk.hpp"
#include "daemon/handlers/handlers.hpp"

#include <bit>
#include <cstring>
#include <string>

namespace farcl::daemon {

namespace {
/// Data below this is part of the command's own cost and not counted.
constexpr std::size_t kUncountedBytes = 1024;

bool is_pattern_size(std::size_t size) { return size != 0 && size <= protocol::kMaxFillPatternBytes && std::has_single_bit(size); }
} // namespace

Result<Command*> Handlers::new_command(const protocol::CommandHeader& header) {
  const auto* queue = state_.queues.find(header.queue);
  if (queue == nullptr) {
    return fail(ErrorCode::kInvalid, "a command for the unknown queue " + std::to_string(header.queue.value));
  }
  // Commands beyond the limit fail one by one; a client that does not care about that is no honest one.
  if (state_.scheduler.commands_in_flight() >= 2 * state_.parts.limits.commands_in_flight ||
      state_.scheduler.events() >= 2 * state_.parts.limits.objects) {
    return fail(ErrorCode::kLimit, "far more commands or events than one session may have");
  }
  Command& command = state_.scheduler.new_command();
  command.queue = *queue;
  command.event = header.event;
  command.notify = header.notify;
  return &command;
}

Status Handlers::enter(Command& command, const protocol::CommandHeader& header, Ordering ordering, bool barrier) {
  for (const auto& buffer : command.buffers) {
    if (Command* initial = buffer->root().initial_data; initial != nullptr) {
      state_.scheduler.depend(*initial, command, false);
    }
  }
  if (auto status = state_.scheduler.enter(command, header.wait_list, ordering, barrier); !status) {
    return status;
  }
  state_.scheduler.start_ready();
  return {};
}

Buffer* Handlers::use_buffer(Command& command, protocol::BufferId id) {
  const auto* found = state_.buffers.find(id);
  cl_int failure = CL_SUCCESS;
  if (found == nullptr) {
    failure = CL_INVALID_MEM_OBJECT;
  } else if ((*found)->context != command.queue->context) {
    failure = CL_INVALID_CONTEXT;
  } else {
    failure = (*found)->failure;
  }
  if (failure != CL_SUCCESS) {
    command.failure = command.failure == CL_SUCCESS ? failure : command.failure;
    return nullptr;
  }
  command.buffers.push_back(*found);
  return found->get();
}

bool Handlers::keep_bytes(Command& command, ConstBytes bytes) {
  if (bytes.size() > kUncountedBytes) {
    command.share = state_.staging.take(bytes.size());
    if (!command.share) {
      command.failure = CL_OUT_OF_RESOURCES;
      return false;
    }
  }
  command.reserve_values(bytes.size());
  std::memcpy(command.value_bytes(), bytes.data(), bytes.size());
  return true;
}

Status Handlers::handle(protocol::EnqueueRead&& message) {
  auto command = new_command(message.command);
  if (!command) {
    return pass_on(std::move(command));
  }
  ReadWork work{message.transfer, {{}, message.rect, 0, {}}, 0};
  if (const Buffer* buffer = use_buffer(**command, message.buffer); buffer != nullptr) {
    if (auto size = protocol::check_within(message.rect, buffer->size_bytes)) {
      work.read.source = buffer->place();
      work.size_bytes = *size;
    } else {
      (*command)->failure = CL_INVALID_VALUE;
    }
  }
  (*command)->work = work;
  return enter(**command, message.command);
}

Status Handlers::handle(protocol::EnqueueWrite&& message) {
  auto size = protocol::size_bytes(message.rect);
  if (!size) {
    return pass_on(std::move(size));
  }
  if (!message.transfer && message.data.size() != *size) {
    return fail(ErrorCode::kInvalid, "a write whose data is not as long as its region");
  }
  auto made = new_command(message.command);
  if (!made) {
    return pass_on(std::move(made));
  }
  Command& command = **made;
  WriteWork work{{{}, message.rect, {}}};
  MutableBytes direct;
  if (const Buffer* buffer = use_buffer(command, message.buffer); buffer != nullptr) {
    if (!protocol::check_within(message.rect, buffer->size_bytes)) {
      command.failure = CL_INVALID_VALUE;
    } else {
      work.write.destination = buffer->place();
      if (std::byte* base = buffer->memory->host_pointer(); base != nullptr && is_contiguous(message.rect)) {
        direct = MutableBytes(base + buffer->offset + message.rect.offset, *size);
      }
    }
  }
  if (message.transfer) {
    command.work = work;
    if (auto status = state_.transfers.expect(message.transfer, command, *size, direct); !status) {
      return status;
    }
  } else {
    if (command.failure == CL_SUCCESS && keep_bytes(command, message.data)) {
      work.write.from = ConstBytes(command.value_bytes(), message.data.size());
    }
    command.work = work;
  }
  return enter(command, message.command);
}

Status Handlers::handle(protocol::EnqueueCopy&& message) {
  auto made = new_command(message.command);
  if (!made) {
    return pass_on(std::move(made));
  }
  Command& command = **made;
  const Buffer* source = use_buffer(command, message.source);
  const Buffer* destination = use_buffer(command, message.destination);
  const auto& from = message.source_rect;
  const auto& to = message.destination_rect;
  if (source != nullptr && destination != nullptr) {
    const bool same_box = from.width_bytes == to.width_bytes && from.height == to.height && from.depth == to.depth;
    if (!same_box || !protocol::check_within(from, source->size_bytes) || !protocol::check_within(to, destination->size_bytes)) {
      command.failure = CL_INVALID_VALUE;
    } else {
      command.work = Copy{source->place(), destination->place(), from, to};
    }
  }
  return enter(command, message.command);
}

Status Handlers::handle(protocol::EnqueueFill&& message) {
  auto made = new_command(message.command);
  if (!made) {
    return pass_on(std::move(made));
  }
  Command& command = **made;
  if (const Buffer* buffer = use_buffer(command, message.buffer); buffer != nullptr) {
    const std::size_t pattern = message.pattern.size();
    if (!is_pattern_size(pattern) || message.size_bytes == 0 || message.size_bytes % pattern != 0 || message.offset % pattern != 0 ||
        message.size_bytes > buffer->size_bytes || message.offset > buffer->size_bytes - message.size_bytes) {
      command.failure = CL_INVALID_VALUE;
    } else if (keep_bytes(command, message.pattern)) {
      MemoryPlace place = buffer->place();
      place.offset += message.offset;
      command.work = Fill{place, message.size_bytes, ConstBytes(command.value_bytes(), pattern)};
    }
  }
  return enter(command, message.command);
}

Status Handlers::handle(protocol::EnqueueMarker&& message) {
  auto command = new_command(message.command);
  if (!command) {
    return pass_on(std::move(command));
  }
  const Ordering ordering = message.command.wait_list.empty() ? Ordering::kWaitsForAll : Ordering::kPlain;
  return enter(**command, message.command, ordering, message.barrier);
}

Status Handlers::handle(protocol::Finish&& message) {
  protocol::CommandHeader header;
  header.queue = message.queue;
  auto command = new_command(header);
  if (!command) {
    return pass_on(std::move(command));
  }
  (*command)->work = FinishWork{message.request};
  return enter(**command, header, Ordering::kWaitsForAll);
}

} // namespace farcl::daemon
