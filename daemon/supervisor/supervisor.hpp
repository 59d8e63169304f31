// farcld's first process: takes connections and gives each session a worker process of its own. It does no OpenCL work, reads
// nothing of a client but the hello, and never waits for a client or a worker.
//
// Threads: one. Everything runs in the handlers of one EventLoop.
#pragma once

#include "daemon/common/options.hpp"

namespace farcl::daemon {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

/// Serves until SIGTERM, SIGINT or (without --keys; with them it reads them again) SIGHUP, or, with --stdio, until the session ends.
/// Returns the process's exit code.
int run_supervisor(const Options& options);

} // namespace farcl::daemon
