// One listening socket: accepts in turns, and pauses when the process has no descriptors left.
#pragma once

#include "daemon/supervisor/event_loop.hpp"
#include "daemon/supervisor/rate_limit.hpp"
#include "farcl/base/unique_fd.hpp"

#include <functional>

namespace farcl::daemon {

class Listener {
public:
  using OnAccept = std::function<void(UniqueFd)>; ///< the socket is non-blocking and close-on-exec

  Listener(EventLoop& loop, RateLimitedLog& log, UniqueFd listening, OnAccept on_accept)
      : loop_(loop), log_(log), listening_(std::move(listening)), on_accept_(std::move(on_accept)) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  Status start();

private:
  void accept_some();
  void pause(int reason);

  EventLoop& loop_;
  RateLimitedLog& log_;
  UniqueFd listening_;
  OnAccept on_accept_;
  EventLoop::TimerId pause_ = 0;
};

} // namespace farcl::daemon
