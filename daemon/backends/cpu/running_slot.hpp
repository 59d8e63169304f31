// Which slot of the worker's page this thread's kernel is reported in; read by the worker's fault handler.
#pragma once

namespace farcl::daemon {

/// kRunningSlots numbers, -1: this thread runs no kernel. A plain thread-local integer: a signal handler may read it.
inline thread_local int running_slot = -1;

} // namespace farcl::daemon
