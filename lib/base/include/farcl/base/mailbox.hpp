// Mailbox<T>: how other threads hand values to the one thread that owns an object.
#pragma once

#include "farcl/base/guarded.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <vector>

namespace farcl {

/// Any thread posts; exactly one owner takes. The owner either blocks in wait_take, or is woken by `notify` (for owners that
/// sleep elsewhere, for example in Transport::wait) and asks `take_all`. `notify` is called after each post that found the
/// mailbox empty, on the posting thread, outside the lock; it must not block.
template <class T>
class Mailbox {
public:
  explicit Mailbox(std::function<void()> notify = {}) : notify_(std::move(notify)) {}

  /// Returns false, and drops the value, when the mailbox has been closed.
  bool post(T value) {
    bool was_empty = false;
    {
      auto state = state_.lock();
      if (state->closed) {
        return false;
      }
      was_empty = state->values.empty();
      state->values.push_back(std::move(value));
      has_mail_.store(true, std::memory_order_release);
    }
    if (was_empty) {
      arrived_.notify_one();
      if (notify_) {
        notify_();
      }
    }
    return true;
  }

  /// Cheap look without the lock, for owners that spin.
  [[nodiscard]] bool has_mail() const noexcept { return has_mail_.load(std::memory_order_acquire); }

  /// Takes everything that is there, in order of posting, without waiting.
  [[nodiscard]] std::vector<T> take_all() {
    std::vector<T> taken;
    auto state = state_.lock();
    taken.swap(state->values);
    has_mail_.store(false, std::memory_order_release);
    return taken;
  }

  /// Waits until something is there, the mailbox is closed or the time is over; then takes everything.
  [[nodiscard]] std::vector<T> wait_take(std::chrono::nanoseconds timeout) {
    auto state = state_.lock();
    arrived_.wait_for(state.lock(), timeout, [&] { return !state->values.empty() || state->closed; });
    std::vector<T> taken;
    taken.swap(state->values);
    has_mail_.store(false, std::memory_order_release);
    return taken;
  }

  void close() {
    state_.with([](State& state) { state.closed = true; });
    arrived_.notify_all();
    if (notify_) {
      notify_();
    }
  }
  [[nodiscard]] bool closed() {
    return state_.with([](State& state) { return state.closed; });
  }

private:
  struct State {
    std::vector<T> values;
    bool closed = false;
  };
  Guarded<State> state_;
  std::condition_variable arrived_;
  std::atomic<bool> has_mail_{false};
  std::function<void()> notify_;
};

} // namespace farcl
