#include "driver/session/session.hpp"

#include "driver/session/runtime.hpp"

#include <algorithm>
#include <ctime>
#include <sched.h>
#include <unistd.h>

namespace farcl::driver {

namespace {
constexpr int kExitTries = 10;

/// Cores that this process may run on: with one, spinning only keeps the server from answering.
unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}
} // namespace

ServerSession::ServerSession(SessionOptions options)
    : options_(std::move(options)), log_("farcl", "session", options_.log_level),
      spin_(usable_cores() > 1 ? options_.spin : std::min(options_.spin, std::chrono::microseconds(5))), process_(::getpid()),
      state_(receiver_.received_sequence()) {}

ServerSession::~ServerSession() = default;

Result<std::unique_ptr<ServerSession>> ServerSession::start(SessionOptions options, Clock::time_point deadline) {
  std::unique_ptr<ServerSession> session(new ServerSession(std::move(options)));
  if (auto status = session->shake_hands(deadline); !status) {
    return pass_on(std::move(status));
  }
  session->start_io_thread();
  return session;
}

Status ServerSession::shake_hands(Clock::time_point deadline) {
  auto connection = options_.connector(hello_);
  if (!connection) {
    return pass_on(std::move(connection));
  }
  const protocol::HelloReply& reply = connection->reply;
  if (reply.status == protocol::HelloStatus::kBadVersion) {
    return fail(ErrorCode::kRefused, "it speaks FarCL's protocol in version " + std::to_string(reply.version_min) + " to " +
                                         std::to_string(reply.version_max) + ", this driver in version " +
                                         std::to_string(protocol::kVersion));
  }
  if (reply.status != protocol::HelloStatus::kWelcome) {
    return fail(ErrorCode::kRefused, reply.text.empty() ? "it refused the connection" : reply.text);
  }
  hello_.session = reply.session;
  hello_.proof = reply.secret;
  buffers_ = std::move(connection->buffers);
  install(std::move(connection->transport));
  while (!has_server_info_) {
    auto got = receiver_.poll(*transport_, *this);
    if (!got) {
      return pass_on(std::move(got));
    }
    if (session_failure_) {
      return fail(ErrorCode::kRefused, *session_failure_);
    }
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now());
    if (!has_server_info_ && left.count() <= 0) {
      return fail(ErrorCode::kTimeout, "it did not say what devices it has in time");
    }
    if (!has_server_info_ && *got == 0) {
      (void)transport_->wait(net::Interest::kReadable, left, nullptr);
    }
  }
  return {};
}

void ServerSession::install(net::TransportPtr transport) {
  transport_ = std::move(transport);
  transport_for_child_.store(transport_.get(), std::memory_order_release);
  last_heard_ns_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

// The flush rule (design.md, "The rule that decides speed"). The first command of an idle session is sent by its caller at once, unless
// a flush has followed the last ones so soon that one write for both is better (FlushForecast). While something is in flight, later
// messages collect until there are 16 KiB of them, until they are 20 µs old (looked at here, by the next call), until the reader hears an
// acknowledgement, or until somebody waits or flushes; the io thread bounds all that to a tick.
void ServerSession::after_append(State& state, bool was_clean) {
  if (was_clean) {
    // The io thread's tick sends what is left to a flush that does not come.
    const bool waits = state.forecast.expects_flush() && io_mode_.load(std::memory_order_relaxed) == IoMode::kTicking;
    if (!waits) {
      (void)flush_locked(state, false);
    }
    const auto now = Clock::now();
    state.forecast.first_command(now);
    state.unsent_since = waits ? now : state.unsent_since;
  } else if (state.sender.unsent_bytes() >= kFlushBytes) {
    flush_collected(state);
  } else {
    const auto now = Clock::now();
    if (state.unsent_since == Clock::time_point{}) {
      state.unsent_since = now;
    } else if (now - state.unsent_since >= kFlushAfter) {
      flush_collected(state);
    }
  }
  // What stays here needs the io thread's tick; what has been sent needs its heartbeat.
  wake_io_if_asleep(state.sender.unsent_bytes() == 0 && state.outgoing.empty());
}

void ServerSession::flush_collected(State& state) {
  state.forecast.missed();
  (void)flush_locked(state, false);
}

bool ServerSession::flush_locked(State& state, bool all) {
  if (!transport_ || send_failed_.load(std::memory_order_relaxed)) {
    return true; // goes out after the repair
  }
  if (all || state.released_events.size() >= kReleaseBatch) {
    append_released_events(state);
  }
  do {
    auto sent = state.sender.flush(*transport_);
    if (!sent) {
      log_.debug(options_.name + ": sending failed: " + sent.error().message);
      send_failed_.store(true, std::memory_order_release);
      reader_waker_.notify();
      io_waker_.notify();
      return true;
    }
    if (!*sent) {
      return false;
    }
  } while (pump_bulk(state));
  state.unsent_since = {};
  return true;
}

bool ServerSession::pump_bulk(State& state) {
  if (spread_bulk(state) || !state.outgoing.pump(state.sender, state.window, *transport_, limits().retained_bytes / 2)) {
    return false;
  }
  state.last_bulk_sequence = state.sender.last_sequence();
  return true;
}

void ServerSession::append_released_events(State& state) {
  while (!state.released_events.empty()) {
    const std::size_t count = std::min<std::size_t>(state.released_events.size(), protocol::kMaxEventsPerRelease);
    const auto last = state.released_events.end();
    protocol::ReleaseEvents message;
    message.events.assign(last - static_cast<std::ptrdiff_t>(count), last);
    state.released_events.resize(state.released_events.size() - count);
    state.sender.append(message);
  }
}

bool ServerSession::anything_pending(State& state) const {
  return state.sender.acknowledged_sequence() != state.sender.last_sequence() || !state.events.empty() || !state.replies.empty() ||
         !state.reads.empty() || !state.outgoing.empty();
}

cl_int ServerSession::wait_for_room(Access& state) {
  const std::uint64_t enough = limits().retained_bytes;
  wait_until(state, [&] { return state->sender.retained_bytes() <= enough; });
  return dead() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

void ServerSession::release(protocol::ObjectKind kind, std::uint64_t id) {
  if (dead()) {
    return;
  }
  Access state = state_.lock();
  (void)state->owners[static_cast<std::size_t>(kind)].take({id});
  if (kind == protocol::ObjectKind::kBuffer) {
    (void)state->placements.take({id});
  }
  append(state, protocol::ReleaseObject{kind, id});
}

void ServerSession::set_owner(protocol::ObjectKind kind, std::uint64_t id, Context* owner) {
  if (!dead()) {
    state_.lock()->owners[static_cast<std::size_t>(kind)].insert({id}, owner);
  }
}

void ServerSession::forget_owner(protocol::ObjectKind kind, std::uint64_t id) {
  if (!dead()) {
    (void)state_.lock()->owners[static_cast<std::size_t>(kind)].take({id});
  }
}

void ServerSession::release_event(protocol::EventId event) noexcept {
  if (dead()) {
    return;
  }
  try {
    Access state = state_.lock();
    state->released_events.push_back(event);
    if (state->released_events.size() >= kReleaseBatch) {
      append_released_events(*state);
    }
  } catch (...) { // short of memory: the server keeps the event until the session ends
  }
}

void ServerSession::flush() {
  if (!dead()) {
    Access state = state_.lock();
    state->forecast.flushed(Clock::now());
    (void)flush_locked(*state, true);
  }
}

void ServerSession::abandon_in_child() noexcept {
  dead_.store(true, std::memory_order_release);
  // Only this thread exists here, and nothing of the session is used any more: closing the descriptor is all that is wanted.
  if (net::Transport* transport = transport_for_child_.exchange(nullptr); transport != nullptr) {
    transport->~Transport();
  }
  for_each_stream([](net::BulkStream& stream) {
    if (net::Transport* transport = stream.transport_for_child(); transport != nullptr) {
      transport->~Transport();
    }
  });
}

// At exit, perhaps in a signal handler that has interrupted who holds the lock, perhaps while other threads use the session: the lock
// is tried for a moment, which is longer than the io thread ever holds it, and nothing else is waited for. A lock that is not free or a
// connection that takes no more costs the server the time in which it waits for a client that was cut off, and nobody else anything.
// A process that was cloned behind the fork handler's back must not speak for its parent.
void ServerSession::announce_exit() noexcept {
  if (dead() || ::getpid() != process_) {
    return;
  }
  try {
    auto state = state_.try_lock();
    for (int tries = 1; !state && tries < kExitTries; ++tries) {
      const timespec pause{0, 50'000};
      ::nanosleep(&pause, nullptr);
      state = state_.try_lock();
    }
    if (state && transport_ && !send_failed_.load(std::memory_order_relaxed)) {
      (*state)->sender.append(protocol::Leaving{});
      (void)(*state)->sender.flush(*transport_);
    }
  } catch (...) { // no memory: the server finds out by itself
  }
}

std::string ServerSession::death_sentence() {
  return in_forked_child() ? "connections of a parent process cannot be used after fork()" : state_.lock()->death_sentence;
}

} // namespace farcl::driver
