#include "daemon/worker/fault_handler.hpp"

#include "daemon/backends/cpu/alternate_stack.hpp"
#include "daemon/backends/cpu/running_slot.hpp"

#include <csignal>

namespace farcl::daemon {

namespace {
std::atomic<WorkerPage*> reported_page{nullptr};

/// Async-signal-safe: atomics and a thread-local integer. The handler is one-shot (SA_RESETHAND), so the instruction that
/// faulted faults again and the process dies by the signal, with the right status and core.
void on_fault(int signal_number) {
  if (WorkerPage* page = reported_page.load(std::memory_order_relaxed); page != nullptr && running_slot >= 0) {
    page->faulted_slot.store(static_cast<std::uint32_t>(running_slot) + 1, std::memory_order_release);
  }
  if (signal_number == SIGABRT) {
    ::raise(SIGABRT);
  }
}
} // namespace

void install_fault_handler(WorkerPage* page) noexcept {
  reported_page.store(page, std::memory_order_relaxed);
  use_alternate_stack();
  struct sigaction action{};
  action.sa_handler = on_fault;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
  ::sigemptyset(&action.sa_mask);
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    ::sigaction(signal_number, &action, nullptr);
  }
}

} // namespace farcl::daemon
