// `farcld --stdio`: the hello comes on stdin. Both pipes then belong to the worker; the supervisor keeps neither, so that the
// client sees the worker's death as the end of its pipe.
#pragma once

#include "daemon/supervisor/event_loop.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/protocol/hello.hpp"

#include <functional>
#include <string>

namespace farcl::daemon {

class StdioSession {
public:
  using Open = std::function<Status(const protocol::HelloBytes&, UniqueFd read_end, UniqueFd write_end)>;
  using OnFailure = std::function<void(const std::string& sentence)>;

  StdioSession(EventLoop& loop, Open open, OnFailure on_failure)
      : loop_(loop), open_(std::move(open)), on_failure_(std::move(on_failure)) {}
  ~StdioSession();

  /// Takes descriptors 0 and 1 away from this process; /dev/null takes their places.
  Status start();

private:
  void read();
  void finish(const std::string& failure);

  EventLoop& loop_;
  Open open_;
  OnFailure on_failure_;
  UniqueFd in_;
  UniqueFd out_;
  protocol::HelloBytes bytes_{};
  std::size_t filled_ = 0;
  EventLoop::TimerId timer_ = 0;
};

} // namespace farcl::daemon
