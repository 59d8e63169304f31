// The templates of ServerSession: one per kind of message that the driver sends. Included by session.hpp.
#pragma once

#include "driver/icd/guard.hpp"
#include "driver/session/session.hpp"

namespace farcl::driver {

/// Commands make the server work, so the first one is sent at once. What only says that something exists or is gone can wait for
/// company: sending it alone would wake the server, which costs 20 µs here and 50 µs there.
template <class Message>
inline constexpr bool kIsCommand = requires(Message message) { message.command; } || requires(Message message) { message.request; };

template <class Message>
std::uint64_t ServerSession::append(Access& state, const Message& message) {
  const bool was_clean = state->sender.acknowledged_sequence() == state->sender.last_sequence();
  const std::uint64_t sequence = state->sender.append(message);
  after_append(*state, was_clean && kIsCommand<Message>);
  return sequence;
}

template <class Message>
cl_int ServerSession::post(const Message& message) {
  if (dead()) {
    return CL_OUT_OF_RESOURCES;
  }
  Access state = state_.lock();
  if (const cl_int code = make_room(state); code != CL_SUCCESS) {
    return code;
  }
  return append(state, message) != 0 ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

/// Calls `use` with each buffer that the command of a message uses.
template <class Message, class Use>
void for_each_buffer(const Message& message, Use&& use) {
  if constexpr (requires { message.buffer; }) {
    use(message.buffer);
  } else if constexpr (requires { message.destination; }) {
    use(message.source);
    use(message.destination);
  }
}

template <class Uses>
void ServerSession::wait_for_copies(Access& state, const Uses& uses) {
  if (state->placements.empty()) {
    return;
  }
  const auto copying = [&] {
    bool any = false;
    uses([&](protocol::BufferId id) {
      const auto* placement = state->placements.find(id);
      any = any || (placement != nullptr && (*placement)->copying);
    });
    return any;
  };
  while (copying()) { // a memcpy of another thread, which waits for nothing
    ++state->waiting_for_copies;
    copies_ended_.wait(state.lock());
    --state->waiting_for_copies;
  }
}

template <class Uses>
void ServerSession::mark_used(State& state, CommandQueue& queue, const Uses& uses) {
  if (state.placements.empty()) {
    return;
  }
  uses([&](protocol::BufferId id) {
    if (const auto* placement = state.placements.find(id); placement != nullptr) {
      (*placement)->use(queue.progress_);
    }
  });
}

template <class Message>
cl_int ServerSession::submit(CommandQueue& queue, Message& message, WaitList wait_list, cl_command_type type, Event** event) {
  const auto uses = [&](auto&& use) { for_each_buffer(message, use); };
  return submit_with(queue, message.command, wait_list, type, event, uses, [&](Access& state) {
    if constexpr (std::is_same_v<Message, protocol::EnqueueMarker>) {
      // An empty list means "everything before": a list whose events are all complete must not become one.
      if (wait_list.count != 0 && message.command.wait_list.empty()) {
        message.command.wait_list.push_back(Event::from(wait_list.events[0])->id());
      }
    }
    return append(state, message);
  });
}

template <class Uses, class Append>
cl_int ServerSession::submit_with(CommandQueue& queue, protocol::CommandHeader& header, WaitList wait_list, cl_command_type type,
                                  Event** event, const Uses& uses, Append&& append_message) {
  if (dead()) {
    return CL_OUT_OF_RESOURCES;
  }
  Event* made = begin_command(queue, header, wait_list, type, event != nullptr);
  cl_int code = CL_SUCCESS;
  {
    Access state = state_.lock();
    code = make_room_for_command(state);
    if (code == CL_SUCCESS) {
      wait_for_copies(state, uses);
      if (made != nullptr) {
        announce(*state, *made);
      }
      if (append_message(state) == 0) {
        code = CL_OUT_OF_RESOURCES;
        if (made != nullptr) {
          withdraw(*state, *made);
        }
      } else {
        count_command(*state, queue);
        mark_used(*state, queue, uses);
        if (made != nullptr) {
          made->command_ = queue.progress_->enqueued;
        }
      }
    }
  }
  if (code != CL_SUCCESS && made != nullptr) {
    (void)made->release_api();
    made = nullptr;
  }
  if (event != nullptr) {
    *event = made;
  }
  return code;
}

template <class Done>
void ServerSession::wait_until(Access& state, Done done) {
  if (done() || dead()) {
    return;
  }
  count_round_trip();
  state->forecast.flushed(Clock::now());
  (void)flush_locked(*state, true);
  Wait wait;
  while (!done() && !dead()) {
    wait_step(state, wait);
  }
  leave(state, wait);
}

template <class Message>
cl_int ServerSession::call(Message& message, PendingReply& reply) {
  if (dead()) {
    return CL_OUT_OF_RESOURCES;
  }
  Access state = state_.lock();
  if (const cl_int code = make_room(state); code != CL_SUCCESS) {
    return code;
  }
  if (!begin_call(state, message, reply)) {
    return CL_OUT_OF_HOST_MEMORY;
  }
  wait_until(state, [&] { return reply.done; });
  return reply.done ? reply.status : CL_OUT_OF_RESOURCES;
}

/// Registers the reply and appends its request; false when the request is larger than a frame can be.
template <class Message>
bool ServerSession::begin_call(Access& state, Message& message, PendingReply& reply) {
  message.request = new_id<protocol::RequestId>();
  state->replies.insert(message.request, &reply);
  if (append(state, message) == 0) {
    (void)state->replies.take(message.request);
    return false;
  }
  return true;
}

template <class Message>
cl_int ServerSession::call_async(Message& message, PendingReply& reply) {
  if (dead()) {
    return CL_OUT_OF_RESOURCES;
  }
  Access state = state_.lock();
  if (const cl_int code = make_room(state); code != CL_SUCCESS) {
    return code;
  }
  if (!begin_call(state, message, reply)) {
    return CL_OUT_OF_HOST_MEMORY;
  }
  (void)flush_locked(*state, true);
  return CL_SUCCESS;
}

} // namespace farcl::driver
