// Contexts, queues, user events, releases.
#include "daemon/handlers/handlers.hpp"

#include <string>

namespace farcl::daemon {

namespace {
Status unknown(std::string_view kind, std::uint64_t id) {
  return fail(ErrorCode::kInvalid, "no " + std::string(kind) + " has the id " + std::to_string(id));
}
Status in_use(std::string_view kind, std::uint64_t id) {
  return fail(ErrorCode::kInvalid, "the " + std::string(kind) + " id " + std::to_string(id) + " is 0 or in use");
}
} // namespace

Status Handlers::check_object_limit() const {
  if (state_.objects() >= state_.parts.limits.objects) {
    return fail(ErrorCode::kLimit, "more than the " + std::to_string(state_.parts.limits.objects) + " objects that one session may have");
  }
  return {};
}

Status Handlers::handle(protocol::Goodbye&&) {
  state_.goodbye = true;
  return {};
}

Status Handlers::handle(protocol::Leaving&&) {
  state_.leaving = true;
  return {};
}

Status Handlers::handle(protocol::CreateContext&& message) {
  if (auto status = check_object_limit(); !status) {
    return status;
  }
  for (const std::uint32_t device : message.devices) {
    if (device >= state_.parts.devices.size()) {
      return unknown("device", device);
    }
  }
  if (message.devices.empty()) {
    return fail(ErrorCode::kInvalid, "a context without devices");
  }
  return state_.contexts.insert(message.context, Context{std::move(message.devices)}) != nullptr ? Status()
                                                                                                 : in_use("context", message.context.value);
}

Status Handlers::handle(protocol::CreateQueue&& message) {
  if (auto status = check_object_limit(); !status) {
    return status;
  }
  if (state_.contexts.find(message.context) == nullptr) {
    return unknown("context", message.context.value);
  }
  if (message.device >= state_.parts.devices.size()) {
    return unknown("device", message.device);
  }
  auto queue = std::make_shared<Queue>();
  queue->id = message.queue;
  queue->context = message.context;
  queue->device = state_.parts.devices[message.device];
  queue->out_of_order = message.out_of_order;
  queue->profiling = message.profiling;
  return state_.queues.insert(message.queue, std::move(queue)) != nullptr ? Status() : in_use("queue", message.queue.value);
}

Status Handlers::handle(protocol::ReleaseObject&& message) {
  bool known = false;
  std::string_view kind;
  switch (message.kind) {
  case protocol::ObjectKind::kContext: known = state_.contexts.erase({message.id}), kind = "context"; break;
  case protocol::ObjectKind::kQueue: known = state_.queues.erase({message.id}), kind = "queue"; break;
  case protocol::ObjectKind::kBuffer: known = state_.buffers.erase({message.id}), kind = "buffer"; break;
  case protocol::ObjectKind::kProgram: known = state_.programs.erase({message.id}), kind = "program"; break;
  }
  return known ? Status() : unknown(kind, message.id);
}

Status Handlers::handle(protocol::ReleaseEvents&& message) {
  for (const protocol::EventId event : message.events) {
    if (!state_.scheduler.release_event(event)) {
      return unknown("event", event.value);
    }
  }
  state_.scheduler.start_ready();
  return {};
}

Status Handlers::handle(protocol::CreateUserEvent&& message) {
  if (auto status = check_object_limit(); !status) {
    return status;
  }
  if (!message.event) {
    return in_use("event", 0);
  }
  Command& command = state_.scheduler.new_command();
  command.event = message.event;
  command.work.emplace<UserEventWork>();
  state_.scheduler.hold(command);
  return state_.scheduler.enter(command);
}

Status Handlers::handle(protocol::SetUserEventStatus&& message) {
  if (message.status > CL_COMPLETE || !state_.scheduler.set_user_event(message.event, message.status)) {
    return fail(ErrorCode::kInvalid, "user event " + std::to_string(message.event.value) + " is not pending, or the status is none");
  }
  state_.scheduler.start_ready();
  return {};
}

} // namespace farcl::daemon
