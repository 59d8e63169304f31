// What a worker does when a kernel crashes it: it notes which slot's kernel that was and dies by the signal.
#pragma once

#include "daemon/common/worker_page.hpp"

namespace farcl::daemon {

/// For SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. `page` must stay mapped.
void install_fault_handler(WorkerPage* page) noexcept;

} // namespace farcl::daemon
