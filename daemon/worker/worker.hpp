// The worker process: one session, its devices, its compile connection.
//
// Threads: the calling thread becomes the session thread; one small thread reads the control socket and posts what it gets to
// the session; the CPU backend has its pool, its copy thread and its builder thread. Kernels of strangers run in this process:
// it holds no key, and when it dies its session dies and nothing else.
#pragma once

#include "daemon/common/worker_start.hpp"

namespace farcl::daemon {

/// Runs the session to its end and returns the process's exit code: 0, after SessionEnded has been sent to the supervisor. The
/// caller must then leave by _exit: kernels may still run, and nobody waits for them.
[[nodiscard]] int run_worker(WorkerStart start);

} // namespace farcl::daemon
