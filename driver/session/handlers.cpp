// What the server says. Everything here runs on the reader; views inside messages are valid during the call only.
#include "driver/session/runtime.hpp"
#include "driver/session/session.hpp"

#include <algorithm>
#include <cstdio>

namespace farcl::driver {

Status ServerSession::handle(protocol::ServerInfo&& message) {
  if (has_server_info_) {
    return fail(ErrorCode::kInvalid, "a second ServerInfo");
  }
  if (message.devices.empty()) {
    return fail(ErrorCode::kInvalid, "it has no devices");
  }
  server_info_ = std::move(message);
  has_server_info_ = true;
  // The clock was read when this was sent: mapped times are late by the way from there to here, at most one round trip.
  clock_offset_ns_ = server_info_.clock_ns - static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  protocol::SessionLimits& limits = server_info_.limits;
  limits.commands_in_flight = std::max<std::uint64_t>(limits.commands_in_flight, 1);
  limits.retained_bytes = std::max<std::uint64_t>(limits.retained_bytes, 2 * protocol::kBulkChunkBytes);
  checkpoint_commands_ = std::clamp<std::uint64_t>(limits.commands_in_flight / 8, 1, kCheckpointCommands);
  return {};
}

Status ServerSession::handle(protocol::SessionFailed&& message) {
  session_failure_ = std::move(message.sentence);
  return fail(ErrorCode::kRefused, *session_failure_);
}

Status ServerSession::handle(protocol::ObjectFailed&& message) {
  const auto kind = static_cast<std::size_t>(message.kind);
  Access state = state_.lock();
  if (Context** owner = state->owners[kind].find({message.id}); owner != nullptr && (*owner)->try_retain_internal()) {
    const auto context = Ref<Context>::adopt(*owner);
    (*owner)->notify(std::move(message.sentence)); // keeps a reference of its own until the callback has run
    contexts_done_.push_back(context);
  }
  return {};
}

Status ServerSession::handle(protocol::PrintfOutput&& message) {
  // Not under the state lock: a full pipe holds up the reader, and thereby the kernels that print, and nobody else.
  (void)std::fwrite(message.text.data(), 1, message.text.size(), stdout);
  (void)std::fflush(stdout);
  return {};
}

void ServerSession::end_reply(PendingReply& reply) {
  reply.on_done();
  reply.done = true;
  if (reply.is_async) {
    replies_done_.push_back(&reply);
  }
}

void ServerSession::end_read(IncomingRead& read, cl_int status, cl_int queue_status) {
  read.status = std::min(status, 0);
  read.queue_status = queue_status;
  read.done = true;
  if (read.owned_by_session) {
    reads_done_.emplace_back(&read);
    if (read.queue) { // nobody waits for it: a failure goes to the next clFinish
      read.queue->add_hidden_failure(queue_status);
      read.queue->add_hidden_failure(read.has_event ? CL_SUCCESS : read.status);
    }
  }
}

Status ServerSession::handle(protocol::BuildDone&& message) {
  Access state = state_.lock();
  if (PendingReply* reply = state->replies.take(message.request); reply != nullptr) {
    reply->status = message.status;
    reply->on_build_done(std::move(message));
    end_reply(*reply);
    return {};
  }
  return fail(ErrorCode::kInvalid, "BuildDone for a request that does not exist");
}

Status ServerSession::handle(protocol::SourceWanted&& message) {
  Access state = state_.lock();
  if (PendingReply* reply = state->replies.take(message.request); reply != nullptr) {
    reply->on_source_wanted();
    end_reply(*reply);
    return {};
  }
  return fail(ErrorCode::kInvalid, "SourceWanted for a request that does not exist");
}

Status ServerSession::handle(protocol::ProgramBinary&& message) {
  Access state = state_.lock();
  if (PendingReply* reply = state->replies.take(message.request); reply != nullptr) {
    reply->status = message.status;
    reply->on_binary(message.bytes);
    end_reply(*reply);
    return {};
  }
  return fail(ErrorCode::kInvalid, "ProgramBinary for a request that does not exist");
}

Status ServerSession::handle(protocol::Finished&& message) {
  Access state = state_.lock();
  if (PendingReply* reply = state->replies.take(message.request); reply != nullptr) {
    reply->status = message.queue_status;
    end_reply(*reply);
    return {};
  }
  return fail(ErrorCode::kInvalid, "Finished for a request that does not exist");
}

Status ServerSession::handle(protocol::Completions&& message) {
  Access state = state_.lock();
  for (const protocol::Completion& completion : message.completions) {
    if (auto status = complete(*state, completion); !status) {
      return status;
    }
  }
  return {};
}

Status ServerSession::complete(State& state, const protocol::Completion& completion) {
  if (completion.status > CL_COMPLETE) {
    return fail(ErrorCode::kInvalid, "a completion that does not complete");
  }
  Ref<Event>* entry = state.events.find(completion.event);
  if (entry == nullptr) {
    return {}; // of no interest: nobody asked, or it failed here already
  }
  Event& event = **entry;
  if (event.read_ && completion.status == CL_COMPLETE && state.reads.find(event.read_) != nullptr) {
    return fail(ErrorCode::kInvalid, "a read completed before its data came");
  }
  if (completion.status == CL_COMPLETE && event.queue() != nullptr && !event.queue()->out_of_order()) {
    event.queue()->progress_->reach(event.command_);
  }
  (void)event.finish(completion.status, completion.times ? &*completion.times : nullptr);
  if (completion.status < 0) {
    event.report_if_unseen(); // before the Finished or ReadResult behind it
  }
  events_done_.push_back(state.events.take(completion.event));
  return {};
}

Status ServerSession::handle(protocol::ReadResult&& message) {
  Access state = state_.lock();
  IncomingRead* read = state->reads.take(message.transfer);
  if (read == nullptr) {
    return fail(ErrorCode::kInvalid, "ReadResult for a transfer that does not exist");
  }
  if (!state->outgoing.empty()) {
    state->outgoing.read_ended(message.transfer);
  }
  if (message.status == CL_SUCCESS && !read->complete(message.data)) {
    end_read(*read, CL_OUT_OF_RESOURCES, CL_SUCCESS); // whoever waits must not take it for success
    return fail(ErrorCode::kInvalid, "a read ended before all of its data came");
  }
  end_read(*read, message.status, message.queue_status);
  return {};
}

} // namespace farcl::driver
