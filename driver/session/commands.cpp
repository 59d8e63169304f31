// Commands on their way out: events, wait lists, the limits of what may be in flight.
#include "driver/session/callback_thread.hpp"
#include "driver/session/session.hpp"
#include "farcl/base/trace.hpp"

#include <algorithm>

namespace farcl::driver {

namespace {
constexpr std::chrono::seconds kGatedLimit{10}; ///< how long a full session waits while user events may be what holds it up
}

/// Asks how far a queue is without waiting: answered when everything enqueued before is complete.
struct ServerSession::Checkpoint final : PendingReply {
  Checkpoint(State& of_session, Ref<CommandQueue> of, std::shared_ptr<QueueProgress> its_progress, std::uint64_t covers)
      : state(of_session), queue(std::move(of)), progress(std::move(its_progress)), reached(progress->enqueued), covered(covers) {
    is_async = true;
  }
  void on_done() override {
    state.commands_in_flight -= std::min(covered, state.commands_in_flight);
    progress->reach_answered(reached);
    if (queue) {
      --queue->open_checkpoints_;
      queue->add_hidden_failure(status);
    }
  }
  void after_done() override { delete this; }

  State& state;
  Ref<CommandQueue> queue; ///< null when it is being destroyed
  std::shared_ptr<QueueProgress> progress;
  std::uint64_t reached; ///< the number of its last command
  std::uint64_t covered;
};

Event* ServerSession::begin_command(CommandQueue& queue, protocol::CommandHeader& header, WaitList wait_list, cl_command_type type,
                                    bool wants_event) {
  header.queue = queue.id();
  header.wait_list.clear();
  for (cl_uint i = 0; i < wait_list.count; ++i) {
    const Event& event = *Event::from(wait_list.events[i]);
    if (event.status() != CL_COMPLETE) { // a failed one goes along: the server fails the command
      header.wait_list.push_back(event.id());
    }
  }
  header.notify = wants_event;
  if (!wants_event) {
    header.event = {};
    return nullptr;
  }
  header.event = new_id<protocol::EventId>();
  Event* event = Event::create(queue.context(), &queue, header.event, type);
  if (queue.profiling()) {
    event->queued_ns_ = to_device_clock(static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()));
  }
  return event;
}

void ServerSession::announce(State& state, Event& event) {
  state.events.insert(event.id(), Ref<Event>(&event));
  event.announced_ = true;
  event.status_.store(CL_SUBMITTED, std::memory_order_release);
}

void ServerSession::withdraw(State& state, Event& event) {
  event.announced_ = false;
  (void)state.events.take(event.id()); // not the last reference
}

cl_int ServerSession::submit_read(CommandQueue& queue, protocol::EnqueueRead& message, IncomingRead& read, WaitList wait_list,
                                  cl_command_type type, Event** event) {
  const auto uses = [&](auto&& use) { use(message.buffer); };
  return submit_with(queue, message.command, wait_list, type, event, uses, [&](Access& state) {
    read.command = queue.progress_->enqueued + 1;
    state->reads.insert(message.transfer, &read);
    if (Ref<Event>* entry = state->events.find(message.command.event); entry != nullptr) {
      (*entry)->read_ = message.transfer;
    }
    const std::uint64_t sequence = append(state, message);
    if (sequence == 0) {
      (void)state->reads.take(message.transfer);
    }
    return sequence;
  });
}

cl_int ServerSession::submit_kernel(CommandQueue& queue, protocol::EnqueueKernel& message, const Kernel& kernel, WaitList wait_list,
                                    cl_command_type type, Event** event) {
  trace(TracePoint::kCalled);
  const auto uses = [&](auto&& use) { kernel.for_each_buffer(use); };
  return submit_with(queue, message.command, wait_list, type, event, uses, [&](Access& state) {
    const bool was_clean = state->sender.acknowledged_sequence() == state->sender.last_sequence();
    // The kernel keeps its arguments encoded: they take the place of the message's empty list.
    const auto field_value = [&](const auto& field) -> decltype(auto) {
      if constexpr (std::is_same_v<std::decay_t<decltype(message.*(field.member))>, std::vector<protocol::KernelArgument>>) {
        return kernel.arguments();
      } else {
        return (message.*(field.member));
      }
    };
    Writer writer(state->sender.begin_frame());
    std::apply([&](const auto&... field) { writer.write(field_value(field)...); }, protocol::EnqueueKernel::fields());
    const std::uint64_t sequence = state->sender.end_frame(protocol::EnqueueKernel::kOpcode);
    trace(TracePoint::kEncoded);
    after_append(*state, was_clean);
    return sequence;
  });
}

void ServerSession::add_checkpoint(State& state, CommandQueue& queue) {
  if (queue.commands_since_checkpoint_ == 0) {
    return;
  }
  Ref<CommandQueue> reference = queue.try_retain_internal() ? Ref<CommandQueue>::adopt(&queue) : Ref<CommandQueue>();
  auto* checkpoint = new Checkpoint(state, std::move(reference), queue.progress_, queue.commands_since_checkpoint_);
  queue.open_checkpoints_ += checkpoint->queue ? 1 : 0;
  queue.commands_since_checkpoint_ = 0;
  protocol::Finish message{queue.id(), new_id<protocol::RequestId>()};
  state.replies.insert(message.request, checkpoint);
  state.sender.append(message);
}

// The server allows a number of commands in flight. Completions are not sent for commands that nobody can see, so the count here falls
// only with answered checkpoints: ask all queues, then wait.
cl_int ServerSession::wait_for_commands(Access& state) {
  for (CommandQueue* queue : state->queues) {
    add_checkpoint(*state, *queue);
  }
  const auto begin = Clock::now();
  const auto is_gated = [&] { return state->unresolved_user_events != 0 && Clock::now() - begin > kGatedLimit; };
  wait_until(state, [&] { return state->commands_in_flight < limits().commands_in_flight || is_gated(); });
  if (dead() || state->commands_in_flight >= limits().commands_in_flight) {
    return CL_OUT_OF_RESOURCES;
  }
  return make_room(state);
}

void ServerSession::add_queue(CommandQueue& queue) {
  if (!dead()) {
    state_.lock()->queues.push_back(&queue);
  }
}

void ServerSession::remove_queue(CommandQueue& queue) {
  if (dead()) {
    return;
  }
  Access state = state_.lock();
  std::erase(state->queues, &queue);
  add_checkpoint(*state, queue);
  (void)state->owners[static_cast<std::size_t>(protocol::ObjectKind::kQueue)].take({queue.id().value});
  append(state, protocol::ReleaseObject{protocol::ObjectKind::kQueue, queue.id().value});
  (void)flush_locked(*state, true); // clReleaseCommandQueue flushes
}

cl_int ServerSession::add_user_event(Event& event) {
  if (dead()) {
    return CL_OUT_OF_RESOURCES;
  }
  Access state = state_.lock();
  ++state->unresolved_user_events;
  event.announced_ = true;
  append(state, protocol::CreateUserEvent{event.id()});
  return CL_SUCCESS;
}

void ServerSession::user_event_set(Event& event, cl_int status) {
  if (dead()) {
    return;
  }
  Access state = state_.lock();
  --state->unresolved_user_events;
  append(state, protocol::SetUserEventStatus{event.id(), status});
  (void)flush_locked(*state, true);
  progress_.notify_all();
  if (state->reader_present) {
    reader_waker_.notify();
  }
}

void ServerSession::send_bulk(protocol::TransferId transfer, ConstBytes data, std::shared_ptr<const void> keep_alive,
                              std::vector<protocol::TransferId> after) {
  if (dead()) {
    return;
  }
  Access state = state_.lock();
  std::erase_if(after, [&](protocol::TransferId read) { return state->reads.find(read) == nullptr; });
  state->outgoing.add(transfer, data, std::move(keep_alive), std::move(after));
  (void)flush_locked(*state, false);
  wake_io_if_asleep(false);
}

std::vector<protocol::TransferId> ServerSession::open_reads_into(const HostBox& box) {
  std::vector<protocol::TransferId> open;
  if (!dead()) {
    state_.lock()->reads.for_each([&](protocol::TransferId id, IncomingRead* read) {
      if (read->box().overlaps(box)) {
        open.push_back(id);
      }
    });
  }
  return open;
}

void ServerSession::wait_for_reads(const std::vector<protocol::TransferId>& reads) {
  if (dead()) {
    return;
  }
  Access state = state_.lock();
  wait_until(state, [&] { return std::none_of(reads.begin(), reads.end(), [&](auto id) { return state->reads.find(id) != nullptr; }); });
}

cl_int ServerSession::send_bulk_and_wait(protocol::TransferId transfer, ConstBytes data) {
  if (dead()) {
    return CL_OUT_OF_RESOURCES;
  }
  Access state = state_.lock();
  state->outgoing.add(transfer, data, nullptr, {});
  (void)flush_locked(*state, true);
  std::uint64_t last = 0; // the transfer's last frame is not behind this one, once it has been appended
  wait_until(state, [&] {
    if (last == 0 && !state->outgoing.is_waiting(transfer)) {
      last = state->sender.last_sequence();
    }
    return last != 0 && state->sender.acknowledged_sequence() >= last;
  });
  return dead() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int ServerSession::finish(CommandQueue& queue) {
  struct FinishReply final : PendingReply {};
  FinishReply reply;
  trace(TracePoint::kWaiting);
  if (!dead()) {
    Access state = state_.lock();
    if (queue.commands_since_checkpoint_ != 0 || queue.open_checkpoints_ != 0) {
      const std::uint64_t covered = std::exchange(queue.commands_since_checkpoint_, 0);
      const std::uint64_t reached = queue.progress_->enqueued;
      protocol::Finish message{queue.id(), new_id<protocol::RequestId>()};
      state->replies.insert(message.request, &reply);
      state->sender.append(message);
      wait_until(state, [&] { return reply.done; });
      state->commands_in_flight -= std::min(covered, state->commands_in_flight);
      if (reply.done) {
        queue.progress_->reach_answered(reached);
      }
    }
  }
  trace(TracePoint::kReturning);
  if (dead()) {
    return CL_OUT_OF_RESOURCES;
  }
  const cl_int hidden = queue.take_hidden_failure();
  return reply.status != CL_SUCCESS || hidden != CL_SUCCESS ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int ServerSession::wait_for_events(WaitList events) {
  cl_uint first_open = 0;
  bool failed = false;
  const auto all_final = [&] {
    for (; first_open < events.count; ++first_open) {
      const cl_int status = Event::from(events.events[first_open])->status();
      if (status > CL_COMPLETE) {
        return false;
      }
      failed = failed || status < 0;
    }
    return true;
  };
  if (!all_final()) {
    if (dead()) {
      return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    Access state = state_.lock();
    wait_until(state, all_final);
  }
  for (cl_uint i = 0; i < events.count; ++i) {
    Event::from(events.events[i])->mark_seen();
  }
  return failed || !all_final() ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

cl_int ServerSession::wait_for_read(CommandQueue& queue, IncomingRead& read, Event* event) {
  {
    if (dead() && !read.done) {
      return CL_OUT_OF_RESOURCES;
    }
    Access state = state_.lock();
    wait_until(state, [&] { return read.done && (event == nullptr || event->is_final()); });
    if (read.done && read.status == CL_SUCCESS && !queue.out_of_order()) {
      queue.progress_->reach_answered(read.command);
    }
  }
  if (!read.done) {
    return CL_OUT_OF_RESOURCES;
  }
  if (read.status != CL_SUCCESS) {
    return read.status;
  }
  const cl_int hidden = queue.take_hidden_failure();
  return read.queue_status != CL_SUCCESS || hidden != CL_SUCCESS ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

// --- Builds ---------------------------------------------------------------------------------------------------------------------

struct ServerSession::BuildReply : PendingReply {
  void on_build_done(protocol::BuildDone&& reply) override { answer = std::move(reply); }
  void on_source_wanted() override { answer = std::nullopt; }
  BuildAnswer answer = fail(ErrorCode::kDisconnected, "the server is gone");
};

struct ServerSession::AsyncBuild final : BuildReply {
  void after_done() override;
  std::function<void(BuildAnswer)> done_function;
};

struct ServerSession::FetchBinary final : PendingReply {
  void on_binary(ConstBytes bytes) override { result.assign(bytes.begin(), bytes.end()); }
  ByteVector result;
};

BuildAnswer ServerSession::build(protocol::BuildProgram& message) {
  BuildReply reply;
  const cl_int status = call(message, reply);
  if (!reply.answer) {
    return status == CL_OUT_OF_HOST_MEMORY ? fail(ErrorCode::kLimit, "the build request is larger than a message can be")
                                           : fail(ErrorCode::kDisconnected, death_sentence());
  }
  return std::move(reply.answer);
}

void ServerSession::AsyncBuild::after_done() {
  post_callback([function = std::move(done_function), value = std::move(answer)]() mutable { function(std::move(value)); });
  delete this;
}

void ServerSession::build_async(protocol::BuildProgram& message, std::function<void(BuildAnswer)> done) {
  auto reply = std::make_unique<AsyncBuild>();
  reply->is_async = true;
  reply->done_function = std::move(done);
  if (call_async(message, *reply) == CL_SUCCESS) {
    (void)reply.release(); // deletes itself
  } else {
    reply.release()->after_done();
  }
}

Result<ByteVector> ServerSession::program_binary(protocol::ProgramId program) {
  FetchBinary reply;
  protocol::GetProgramBinary message;
  message.program = program;
  if (const cl_int status = call(message, reply); status != CL_SUCCESS) {
    return fail(dead() ? ErrorCode::kDisconnected : ErrorCode::kRefused, "the server has no binary of the program");
  }
  return std::move(reply.result);
}

} // namespace farcl::driver
