// The supervisor's one loop: descriptors and timers on one thread. Whoever uses it runs on that thread only.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

namespace farcl::daemon {

class EventLoop {
public:
  using Clock = std::chrono::steady_clock;
  using Handler = std::function<void()>;
  using TimerId = std::uint64_t; ///< 0: none

  static Result<std::unique_ptr<EventLoop>> create();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Calls `on_readable` whenever `fd` has something to read or has failed, until forget(fd). Forget before closing.
  Status watch(int fd, Handler on_readable);
  void forget(int fd);

  /// Calls `handler` once, not before `delay` has passed.
  TimerId run_after(Clock::duration delay, Handler handler);
  /// Sets `timer` to 0. Harmless when it has run or is 0.
  void cancel(TimerId& timer);

  /// Until stop(). Handlers may do anything with the loop, also forget themselves.
  Status run();
  void stop() noexcept { stopping_ = true; }

private:
  explicit EventLoop(UniqueFd epoll) : epoll_(std::move(epoll)) {}
  void run_timers();
  [[nodiscard]] int wait_ms() const;

  struct Watched {
    std::uint32_t generation = 0; ///< tells an event of a forgotten descriptor from one of its successor
    std::shared_ptr<Handler> handler;
  };
  UniqueFd epoll_;
  std::map<int, Watched> watched_;
  std::uint32_t last_generation_ = 0;
  std::map<std::pair<Clock::time_point, TimerId>, Handler> timers_;
  std::map<TimerId, Clock::time_point> timer_times_;
  TimerId last_timer_ = 0;
  bool stopping_ = false;
};

} // namespace farcl::daemon
