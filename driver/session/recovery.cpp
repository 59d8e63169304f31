// When the connection is cut: repair it, or find proof that the server is gone. Everything here runs on the reader.
#include "driver/session/runtime.hpp"
#include "driver/session/session.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace farcl::driver {

namespace {
constexpr std::array<std::chrono::milliseconds, 4> kBackoff = {std::chrono::milliseconds(10), std::chrono::milliseconds(50),
                                                               std::chrono::milliseconds(100), std::chrono::milliseconds(250)};

bool is_refused(const Error& error) { return error.system_errno == ECONNREFUSED || error.system_errno == ENOENT; }
} // namespace

void ServerSession::on_connection_lost(const Error& reason) {
  if (session_failure_) {
    die(*session_failure_);
    return;
  }
  const bool broken = reason.code == ErrorCode::kDisconnected || reason.code == ErrorCode::kClosed || reason.code == ErrorCode::kTimeout;
  if (!broken) {
    die("it sent something that this driver does not understand: " + reason.message);
    return;
  }
  const auto now = Clock::now();
  {
    Access state = state_.lock();
    if (transport_) {
      transport_for_child_.store(nullptr, std::memory_order_release);
      transport_->shutdown();
      transport_.reset();
    }
    send_failed_.store(false, std::memory_order_release);
    const auto begin = state->ping_sent != Clock::time_point{} ? state->ping_sent : now;
    repair_deadline_ = begin + options_.resume;
  }
  cut_reason_ = reason.message;
  attempts_ = 0;
  next_attempt_ = now;
  log_.info(options_.name + ": the connection was lost: " + reason.message);
  if (!options_.can_resume || options_.resume.count() == 0) {
    die("the connection was lost: " + reason.message);
  }
}

// One attempt to reconnect, or a short sleep before the next one.
void ServerSession::repair_step() {
  const auto now = Clock::now();
  if (now >= repair_deadline_ && attempts_ != 0) {
    die("it could not be reached for " + std::to_string(options_.resume.count()) + " s: " + cut_reason_);
    return;
  }
  if (now < next_attempt_) {
    (void)reader_waker_.wait(std::min<Clock::duration>(next_attempt_ - now, kBackoff.back()));
    return;
  }
  hello_.received = receiver_.received_sequence().load(std::memory_order_acquire);
  auto connection = options_.connector(hello_);
  next_attempt_ = Clock::now() + kBackoff[std::min(attempts_, kBackoff.size() - 1)];
  ++attempts_;
  if (!connection) {
    cut_reason_ = connection.error().message;
    if (options_.refused_is_death && is_refused(connection.error())) {
      die("it does not run any more: " + cut_reason_);
    }
    return;
  }
  if (connection->reply.status == protocol::HelloStatus::kWelcome) {
    resume(std::move(*connection));
    return;
  }
  const std::string& text = connection->reply.text;
  if (connection->reply.status == protocol::HelloStatus::kUnknownSession) {
    die(text.empty() ? "it has been restarted and does not know this session any more" : text);
  } else {
    die(text.empty() ? "it refused to go on with this session" : text);
  }
}

void ServerSession::resume(net::Connection connection) {
  Status status;
  {
    Access state = state_.lock();
    status = state->sender.on_resumed(connection.reply.received);
    if (status) {
      receiver_.on_resumed();
      install(std::move(connection.transport));
      state->window.reset();
      state->ping_sent = {};
      (void)flush_locked(*state, true);
      progress_.notify_all();
    }
  }
  if (!status) {
    die("the session could not be resumed: " + status.error().message);
    return;
  }
  log_.info(options_.name + ": the connection is back");
}

// Proof of death, or the end of patience: everything that is pending fails, now.
void ServerSession::die(const std::string& sentence) {
  if (dead()) {
    return;
  }
  warn_user("server " + options_.name + ": " + sentence); // before anybody acts on it
  {
    Access state = state_.lock();
    state->death_sentence = sentence;
    transport_for_child_.store(nullptr, std::memory_order_release);
    if (transport_) {
      transport_->shutdown();
      transport_.reset();
    }
    for (Ref<Event>& event : state->events.take_all()) {
      (void)event->finish(CL_OUT_OF_RESOURCES);
      events_done_.push_back(std::move(event));
    }
    for (PendingReply* reply : state->replies.take_all()) {
      reply->status = CL_OUT_OF_RESOURCES;
      end_reply(*reply);
    }
    for (IncomingRead* read : state->reads.take_all()) {
      end_read(*read, CL_OUT_OF_RESOURCES, CL_SUCCESS);
    }
    state->outgoing.clear(); // what the sender still refers to is never looked at again: flush_locked needs a transport
    state->commands_in_flight = 0;
    state->owners[static_cast<std::size_t>(protocol::ObjectKind::kContext)].for_each([&](auto, Context* context) {
      if (context->try_retain_internal()) {
        contexts_done_.push_back(Ref<Context>::adopt(context));
        context->notify("FarCL: server " + options_.name + ": " + sentence);
      }
    });
    dead_.store(true, std::memory_order_release);
    for_each_stream([](net::BulkStream& stream) { stream.stop(); });
    progress_.notify_all();
  }
}

} // namespace farcl::driver
