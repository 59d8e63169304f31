#include "daemon/supervisor/event_loop.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/epoll.h>

namespace farcl::daemon {

namespace {
inline constexpr int kEventsPerTurn = 64;
inline constexpr int kMaxWaitMs = 60'000;
} // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::create() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) {
    return fail_errno(errno, "cannot make an event loop");
  }
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(epoll)));
}

Status EventLoop::watch(int fd, Handler on_readable) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = (static_cast<std::uint64_t>(++last_generation_) << 32) | static_cast<std::uint32_t>(fd);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return fail_errno(errno, "cannot watch a descriptor");
  }
  watched_[fd] = {last_generation_, std::make_shared<Handler>(std::move(on_readable))};
  return {};
}

void EventLoop::forget(int fd) {
  if (watched_.erase(fd) != 0) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  }
}

EventLoop::TimerId EventLoop::run_after(Clock::duration delay, Handler handler) {
  const auto at = Clock::now() + delay;
  timers_.emplace(std::pair(at, ++last_timer_), std::move(handler));
  timer_times_.emplace(last_timer_, at);
  return last_timer_;
}

void EventLoop::cancel(TimerId& timer) {
  if (const auto found = timer_times_.find(timer); found != timer_times_.end()) {
    timers_.erase({found->second, timer});
    timer_times_.erase(found);
  }
  timer = 0;
}

void EventLoop::run_timers() {
  const auto now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto first = timers_.extract(timers_.begin());
    timer_times_.erase(first.key().second);
    first.mapped()();
  }
}

int EventLoop::wait_ms() const {
  if (timers_.empty()) {
    return -1;
  }
  const auto left = timers_.begin()->first.first - Clock::now();
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, kMaxWaitMs));
}

Status EventLoop::run() {
  std::array<epoll_event, kEventsPerTurn> events{};
  while (!stopping_) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsPerTurn, wait_ms());
    if (count < 0 && errno != EINTR) {
      return fail_errno(errno, "the event loop cannot wait");
    }
    for (int i = 0; i < count && !stopping_; ++i) {
      const int fd = static_cast<int>(events[static_cast<std::size_t>(i)].data.u64 & 0xffff'ffffu);
      const auto generation = static_cast<std::uint32_t>(events[static_cast<std::size_t>(i)].data.u64 >> 32);
      const auto found = watched_.find(fd);
      if (found != watched_.end() && found->second.generation == generation) {
        const std::shared_ptr<Handler> keep_alive = found->second.handler;
        (*keep_alive)();
      }
    }
    if (!stopping_) {
      run_timers();
    }
  }
  return {};
}

} // namespace farcl::daemon
