// A stack for signal handlers, so that a kernel that overruns its thread's stack can still be reported.
#pragma once

namespace farcl::daemon {

/// For the calling thread, until it ends. Does nothing if there is no memory.
void use_alternate_stack() noexcept;

} // namespace farcl::daemon
