// farcl-kc, the compile service, as the supervisor sees it: a child that is started again (with growing pauses) when it dies.
#pragma once

#include "daemon/common/options.hpp"
#include "daemon/supervisor/child_process.hpp"
#include "daemon/supervisor/event_loop.hpp"
#include "farcl/base/log.hpp"

#include <chrono>
#include <functional>

namespace farcl::daemon {

class CompileService {
public:
  /// `on_restarted` runs when a new process has taken the place of one that died: earlier connections are dead.
  CompileService(EventLoop& loop, const Logger& logger, const Options& options, std::function<void()> on_restarted)
      : loop_(loop), logger_(logger), options_(options), on_restarted_(std::move(on_restarted)) {}
  ~CompileService() { stop(); }

  /// Without farcl-kc the daemon works, except that programs cannot be built; one line of the log says so.
  void start();
  /// Ends it and does not start it again.
  void stop();
  /// A connection to it. Without a service this is a socket whose other end is closed: the worker sees that at its first build.
  Result<UniqueFd> connect();

private:
  Status spawn();
  void on_end();
  void start_later();

  EventLoop& loop_;
  const Logger& logger_;
  const Options& options_;
  std::function<void()> on_restarted_;
  ChildProcess child_;
  UniqueFd control_;
  EventLoop::Clock::time_point started_;
  std::chrono::milliseconds pause_{0};
  EventLoop::TimerId timer_ = 0;
};

} // namespace farcl::daemon
