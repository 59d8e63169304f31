// The io thread: reads when no thread of the program waits, sends what was left behind, notices silence, repairs.
//
// It must not cost the program anything: while commands are in flight it looks at the connection every 0.8 ms instead of being woken by
// each message (kTicking); while a waiting thread reads and all is quiet it sleeps until that one leaves (kParked); when nothing has
// happened for a while it sleeps on the connection (kDeep), without any timeout if nothing is pending (kDeepForever).
#include "driver/session/session.hpp"

#include "driver/session/thread.hpp"

namespace farcl::driver {

namespace {
constexpr std::chrono::hours kForEver{24 * 365};
constexpr std::chrono::seconds kHeartbeatSlice{1};
} // namespace

void ServerSession::start_io_thread() {
  start_detached_thread("farcl-io", [this] { io_main(); });
}

// Under the state lock, after something was appended or left unsent.
void ServerSession::wake_io_if_asleep(bool only_if_for_ever) {
  const IoMode mode = io_mode_.load(std::memory_order_relaxed);
  if (mode == IoMode::kTicking || (only_if_for_ever && mode != IoMode::kDeepForever)) {
    return;
  }
  io_mode_.store(IoMode::kTicking, std::memory_order_relaxed); // it is on its way: no second notification
  io_waker_.notify();
}

void ServerSession::io_main() {
  auto busy_until = Clock::now() + kQuietAfter;
  while (!dead()) {
    const bool had_traffic = io_turn();
    const auto now = Clock::now();
    const auto heard = Clock::time_point(Clock::duration(last_heard_ns_.load(std::memory_order_relaxed)));
    busy_until = std::max(busy_until, heard + kQuietAfter);
    if (had_traffic) {
      busy_until = now + kQuietAfter;
    }
    if (io_sleep(now < busy_until)) {
      busy_until = Clock::now() + kQuietAfter; // woken because there is work
    }
  }
}

// Takes the reader role if it is free and does what there is to do. True if there was something.
bool ServerSession::io_turn() {
  Access state = state_.lock();
  bool had_traffic = state->sender.unsent_bytes() != 0 || !state->outgoing.empty();
  if (state->sender.unsent_bytes() != 0) {
    state->forecast.missed();
  }
  (void)flush_locked(*state, !state->released_events.empty());
  if (state->reader_present) {
    return had_traffic;
  }
  state->reader_present = true;
  state.lock().unlock();
  while (!dead() && read_some()) {
    had_traffic = true;
    if (!transport_) {
      break; // one attempt at a time; a waiting thread may take over between them
    }
  }
  state.lock().lock();
  bool silent = false;
  if (!dead() && transport_) {
    silent = is_silent(*state);
  }
  if (silent) {
    state.lock().unlock();
    on_connection_lost({ErrorCode::kTimeout, 0, "the server has been silent for too long"});
    finish_deferred();
    state.lock().lock();
  }
  state->reader_present = false;
  if (state->waiters != 0) {
    progress_.notify_all();
  }
  return had_traffic;
}

// Sleeps as fits the situation; true when somebody woke it.
bool ServerSession::io_sleep(bool busy) {
  std::shared_ptr<net::Transport> transport;
  net::Interest interest = net::Interest::kReadable;
  IoMode mode = IoMode::kTicking;
  bool blocked = false;
  {
    Access state = state_.lock();
    if (dead()) {
      return false;
    }
    transport = transport_;
    blocked = transport && !flush_locked(*state, true);
    if (!busy && transport && !send_failed_.load(std::memory_order_relaxed) && !blocked) {
      if (state->reader_present) {
        mode = IoMode::kParked;
      } else {
        state->sender.append_acknowledgement(); // before going to sleep
        (void)flush_locked(*state, true);
        mode = anything_pending(*state) ? IoMode::kDeep : IoMode::kDeepForever;
      }
    }
    if (blocked && !state->reader_present) {
      interest = interest | net::Interest::kWritable;
    }
    io_mode_.store(mode, std::memory_order_relaxed);
  }
  bool woken = false;
  if (has(interest, net::Interest::kWritable)) {
    (void)transport->wait(interest, kTick, nullptr); // a large write that nobody waits for
  } else if (mode == IoMode::kTicking) {
    (void)io_waker_.consume();
    std::this_thread::sleep_for(kTick);
  } else if (mode == IoMode::kParked) {
    woken = io_waker_.wait(kHeartbeatSlice);
  } else {
    (void)transport->wait(net::Interest::kReadable, mode == IoMode::kDeep ? std::chrono::nanoseconds(kHeartbeatSlice) : kForEver,
                          &io_waker_);
  }
  Access state = state_.lock();
  woken = woken || (mode != IoMode::kTicking && io_mode_.load(std::memory_order_relaxed) == IoMode::kTicking);
  io_mode_.store(IoMode::kTicking, std::memory_order_relaxed);
  return woken;
}

} // namespace farcl::driver
