// Buffers and sub-buffers.
#include "daemon/handlers/handlers.hpp"

#include <cstring>
#include <string>

namespace farcl::daemon {

void Handlers::fail_buffer(protocol::BufferId id, Buffer& buffer, cl_int status, std::string sentence) {
  buffer.failure = status;
  sentence.resize(std::min<std::size_t>(sentence.size(), protocol::kMaxSentenceBytes));
  state_.outbox.send(protocol::ObjectFailed{protocol::ObjectKind::kBuffer, id.value, status, std::move(sentence)});
}

/// A failed buffer has a sentence in `why`.
std::shared_ptr<Buffer> Handlers::new_buffer(const protocol::CreateBuffer& message, std::string& why) {
  auto buffer = std::make_shared<Buffer>();
  buffer->context = message.context;
  buffer->size_bytes = message.size_bytes;
  buffer->share = state_.memory.take(message.size_bytes);
  if (!buffer->share) {
    why = "a buffer of " + std::to_string(message.size_bytes) + " bytes does not fit: the session holds " +
          std::to_string(state_.memory.used_bytes()) + " of the " + std::to_string(state_.memory.limit_bytes()) +
          " bytes that the server allows it";
    return buffer;
  }
  // The devices of one server share its memory: the context's first device allocates for all of them. A backend with memory
  // of its own will need one block per device here.
  const Context& context = *state_.contexts.find(message.context);
  auto memory = state_.parts.devices[context.devices.front()]->allocate(message.size_bytes, state_.shared.get());
  if (memory) {
    buffer->memory = std::move(*memory);
  } else {
    why = std::move(memory.error().message);
    buffer->share = {};
  }
  return buffer;
}

Status Handlers::handle(protocol::CreateBuffer&& message) {
  if (auto status = check_object_limit(); !status) {
    return status;
  }
  if (state_.contexts.find(message.context) == nullptr) {
    return fail(ErrorCode::kInvalid, "a buffer in the unknown context " + std::to_string(message.context.value));
  }
  const bool has_bulk = static_cast<bool>(message.transfer);
  if (message.size_bytes == 0 || (!message.data.empty() && (has_bulk || message.data.size() != message.size_bytes))) {
    return fail(ErrorCode::kInvalid, "a buffer without bytes, or with contents of another size");
  }
  std::string why;
  auto buffer = new_buffer(message, why);
  if (state_.buffers.insert(message.buffer, buffer) == nullptr) {
    return fail(ErrorCode::kInvalid, "the buffer id " + std::to_string(message.buffer.value) + " is 0 or in use");
  }
  if (buffer->memory == nullptr) {
    fail_buffer(message.buffer, *buffer, CL_MEM_OBJECT_ALLOCATION_FAILURE, std::move(why));
    return has_bulk ? state_.transfers.expect_unwanted(message.transfer, message.size_bytes) : Status();
  }
  const auto placed = state_.shared != nullptr ? state_.shared->offset_of(*buffer->memory) : std::nullopt;
  if (!has_bulk) {
    if (!message.data.empty()) {
      std::memcpy(buffer->memory->host_pointer(), message.data.data(), message.data.size());
    }
    if (placed) {
      state_.outbox.send(protocol::BufferPlaced{message.buffer, *placed, message.size_bytes});
    }
    return {};
  }
  Command& command = state_.scheduler.new_command();
  command.work.emplace<InitialDataWork>(InitialDataWork{message.buffer, placed});
  command.buffers.push_back(buffer);
  const MutableBytes destination(buffer->memory->host_pointer(), buffer->size_bytes);
  if (auto status = state_.transfers.expect(message.transfer, command, message.size_bytes, destination); !status) {
    return status;
  }
  buffer->initial_data = &command;
  return state_.scheduler.enter(command);
}

Status Handlers::handle(protocol::CreateSubBuffer&& message) {
  if (auto status = check_object_limit(); !status) {
    return status;
  }
  const auto* found = state_.buffers.find(message.parent);
  if (found == nullptr || (*found)->parent != nullptr) {
    return fail(ErrorCode::kInvalid, "a sub-buffer of " + std::to_string(message.parent.value) + ", which is no buffer");
  }
  const std::shared_ptr<Buffer> parent = *found;
  if (message.size_bytes == 0 || message.size_bytes > parent->size_bytes || message.origin > parent->size_bytes - message.size_bytes) {
    return fail(ErrorCode::kInvalid, "a sub-buffer that does not lie within its buffer");
  }
  auto buffer = std::make_shared<Buffer>();
  buffer->context = parent->context;
  buffer->parent = parent;
  buffer->memory = parent->memory;
  buffer->offset = message.origin;
  buffer->size_bytes = message.size_bytes;
  buffer->failure = parent->failure;
  return state_.buffers.insert(message.buffer, std::move(buffer)) != nullptr
             ? Status()
             : fail(ErrorCode::kInvalid, "the buffer id " + std::to_string(message.buffer.value) + " is 0 or in use");
}

} // namespace farcl::daemon
