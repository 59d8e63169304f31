// Waiting, and reading the socket: what the holder of the reader role does.
#include "driver/session/session.hpp"

#include <algorithm>
#include <sched.h>

namespace farcl::driver {

namespace {
constexpr std::chrono::nanoseconds kBriefSpin{2000};
constexpr unsigned kBriefProbeEvery = 512; ///< waits with a full spin, of which one tries a brief one: too few for the p99
constexpr unsigned kFullProbeEvery = 64;   ///< waits with a brief spin, of which ...
constexpr unsigned kFullProbeRun = 8;      ///< ... so many in a row try a full one: enough to be believed
constexpr std::chrono::nanoseconds kInstructiveWait{1000000}; ///< longer ones say nothing about spinning
constexpr unsigned kFreeLooks = 16;                           ///< about half a microsecond
constexpr int kSteps = 8;                                     ///< what a way of waiting is thought to cost changes by such a part of it
constexpr std::chrono::nanoseconds kLeastStep{100};

std::int64_t now_ns() { return Clock::now().time_since_epoch().count(); }
} // namespace

// Spinning saves the 50 µs that waking a sleeping core costs, but where the server shares this core it only keeps the server from
// running. Which of both holds depends on the scheduler and changes, so it is learnt: each way of waiting (a full spin, a brief one) has
// a measured cost, the cheaper one is used, and now and then the other is tried. The cost is the median: a mean lets one wait that was
// interrupted by somebody else outweigh hundreds that were not, which then all go the slower way.
void ServerSession::begin_spin(State& state, Wait& wait) {
  ++state.waits;
  const bool brief_is_cheaper = state.wait_cost[1] < state.wait_cost[0];
  wait.brief = brief_is_cheaper ? state.waits % kFullProbeEvery >= kFullProbeRun : state.waits % kBriefProbeEvery == 0;
  wait.begin = Clock::now();
  wait.spin_end = wait.begin + (wait.brief ? std::min<std::chrono::nanoseconds>(kBriefSpin, spin_) : std::chrono::nanoseconds(spin_));
}

void ServerSession::learn_from_spin(State& state, const Wait& wait) {
  const std::chrono::nanoseconds took = Clock::now() - wait.begin;
  if (took < kInstructiveWait) {
    std::chrono::nanoseconds& cost = state.wait_cost[wait.brief ? 1 : 0];
    const std::chrono::nanoseconds step = std::max(cost / kSteps, kLeastStep);
    cost += took > cost ? step : -step;
  }
}

// One step of a wait, entered and left with the state lock held.
void ServerSession::wait_step(Access& state, Wait& wait) {
  if (!wait.is_reader) {
    if (state->reader_present) {
      ++state->waiters;
      progress_.wait_for(state.lock(), kWaitSlice);
      --state->waiters;
      return;
    }
    state->reader_present = true;
    wait.is_reader = true;
    begin_spin(*state, wait);
  }
  const bool all_sent = flush_locked(*state, false);
  state.lock().unlock();
  for (;;) {
    if (look()) {
      break;
    }
    if (!all_sent || Clock::now() >= wait.spin_end) {
      sleep_as_reader();
      break;
    }
    if (reader_waker_.consume()) {
      break;
    }
    (void)::sched_yield(); // half a microsecond on a free core; on a shared one the server may be what waits for it
  }
  state.lock().lock();
}

void ServerSession::leave(Access& state, Wait& wait) {
  if (!wait.is_reader) {
    return;
  }
  state->reader_present = false;
  if (wait.begin != Clock::time_point{}) {
    learn_from_spin(*state, wait);
  }
  if (state->waiters != 0) {
    progress_.notify_all(); // one of them takes over
  } else if (io_mode_.load(std::memory_order_relaxed) == IoMode::kParked) {
    io_waker_.notify();
  }
}

// Looks that cost no system call are repeated before the core is offered to others.
bool ServerSession::look() {
  for (unsigned i = 0; transport_ && transport_->looks_are_free() && i < kFreeLooks; ++i) {
    if (read_some()) {
      return true;
    }
  }
  return read_some();
}

bool ServerSession::read_some() {
  if (stream_failed_.load(std::memory_order_acquire) && !dead()) {
    die(state_.with([](State& state) { return state.stream_failure; }));
    finish_deferred();
    return true;
  }
  if (send_failed_.load(std::memory_order_acquire) && transport_) {
    // What has arrived is worth more than knowing that nothing can be sent: read until the connection says why.
    auto got = receiver_.poll(*transport_, *this);
    if (got && *got != 0) {
      after_reading(*state_.lock(), *got);
      finish_deferred();
      return true;
    }
    on_connection_lost(got ? Error{ErrorCode::kDisconnected, 0, "the connection broke"} : got.error());
    finish_deferred();
    return true;
  }
  if (!transport_) {
    if (!dead()) {
      repair_step();
      finish_deferred();
    }
    return true;
  }
  auto got = receiver_.poll(*transport_, *this);
  if (got && *got == 0) {
    return false;
  }
  if (got) {
    last_heard_ns_.store(now_ns(), std::memory_order_relaxed);
    after_reading(*state_.lock(), *got);
  } else {
    on_connection_lost(got.error());
  }
  finish_deferred();
  return true;
}

void ServerSession::after_reading(State& state, std::size_t bytes) {
  state.ping_sent = {};
  bytes_since_acknowledgement_ += bytes;
  const std::uint64_t unacknowledged = receiver_.received_sequence().load(std::memory_order_relaxed) - state.sender.sent_acknowledgement();
  // By bytes too: the server sends large reads within a window, which the frames of 256 KiB fill long before they are many.
  if (unacknowledged != 0 && (unacknowledged >= kAcknowledgeFrames || bytes_since_acknowledgement_ >= net::kAcknowledgeAfterBytes)) {
    state.sender.append_acknowledgement(); // goes out below
    bytes_since_acknowledgement_ = 0;
  }
  if (state.sender.unsent_bytes() != 0 || !state.outgoing.empty()) {
    (void)flush_locked(state, false);
  }
  if (may_open_streams_ && options_.bulk_streams != 0) {
    consider_streams(state, bytes, Clock::now());
  }
  if (state.waiters != 0) {
    progress_.notify_all();
  }
}

void ServerSession::finish_deferred() {
  // Both may lead to new messages, and so to the state lock; neither may lead back here.
  while (!replies_done_.empty()) {
    PendingReply* reply = replies_done_.back();
    replies_done_.pop_back();
    reply->after_done();
  }
  reads_done_.clear();
  events_done_.clear();
  contexts_done_.clear();
}

void ServerSession::sleep_as_reader() {
  net::Interest interest = net::Interest::kReadable;
  std::chrono::nanoseconds longest = kWaitSlice;
  {
    Access state = state_.lock();
    state->sender.append_acknowledgement(); // before going to sleep
    if (!flush_locked(*state, true)) {
      interest = interest | net::Interest::kWritable;
    } else if (!state->outgoing.empty() && state->window.is_holding()) {
      longest = net::kBulkLookEvery;
    }
    if (is_silent(*state)) {
      state.lock().unlock();
      on_connection_lost({ErrorCode::kTimeout, 0, "the server has been silent for too long"});
      finish_deferred();
      return;
    }
  }
  if (transport_) {
    (void)transport_->wait(interest, longest, &reader_waker_);
  }
}

bool ServerSession::is_silent(State& state) {
  if (!transport_ || !anything_pending(state)) {
    return false;
  }
  const auto now = Clock::now();
  const auto heard = Clock::time_point(Clock::duration(last_heard_ns_.load(std::memory_order_relaxed)));
  if (state.ping_sent == Clock::time_point{}) {
    if (now - heard >= kPingAfter) {
      state.ping_sent = now;
      state.sender.append_ping(static_cast<std::uint64_t>(now.time_since_epoch().count()));
      (void)flush_locked(state, true);
    }
    return false;
  }
  // Half of the time that silence is borne goes into waiting for the pong, the other half into reconnecting.
  return now - state.ping_sent >= std::max<Clock::duration>(kPingAfter, options_.resume / 2);
}

void ServerSession::poll_event() {
  if (dead()) {
    return;
  }
  const std::int64_t now = now_ns();
  std::int64_t last = last_poll_ns_.load(std::memory_order_relaxed);
  if (now - last < std::chrono::nanoseconds(kPollInterval).count() ||
      !last_poll_ns_.compare_exchange_strong(last, now, std::memory_order_relaxed)) {
    return;
  }
  Access state = state_.lock();
  if (state->reader_present) {
    return; // somebody reads already
  }
  state->reader_present = true;
  state->forecast.flushed(Clock::now());
  (void)flush_locked(*state, true);
  state.lock().unlock();
  if (transport_) { // repairing takes time: not here
    (void)read_some();
  }
  state.lock().lock();
  Wait wait;
  wait.is_reader = true;
  leave(state, wait);
}

// --- FrameSink ------------------------------------------------------------------------------------------------------------------

Status ServerSession::on_message(protocol::Opcode opcode, ConstBytes payload) {
  return protocol::Dispatcher<protocol::ServerMessages, ServerSession>::dispatch(*this, opcode, payload);
}

Result<MutableBytes> ServerSession::bulk_destination(const protocol::BulkHeader& chunk, std::size_t size) {
  Access state = state_.lock();
  IncomingRead** read = state->reads.find(chunk.transfer);
  if (read == nullptr) {
    return fail(ErrorCode::kInvalid, "bulk data for a transfer that does not exist");
  }
  return (*read)->destination(chunk.offset, size);
}

Status ServerSession::on_bulk(const protocol::BulkHeader& chunk, std::size_t) {
  Access state = state_.lock();
  IncomingRead** read = state->reads.find(chunk.transfer);
  if (read == nullptr) {
    return fail(ErrorCode::kInvalid, "bulk data for a transfer that does not exist");
  }
  return (*read)->arrived();
}

Status ServerSession::on_acknowledged(std::uint64_t sequence) { return state_.lock()->sender.on_acknowledged(sequence); }

void ServerSession::on_ping(std::uint64_t token) {
  Access state = state_.lock();
  state->sender.append_pong(token);
  (void)flush_locked(*state, false);
}

void ServerSession::on_pong(std::uint64_t token) { (void)token; } // being heard is enough

} // namespace farcl::driver
