#include "daemon/backends/cpu/alternate_stack.hpp"

#include <csignal>
#include <memory>
#include <new>

namespace farcl::daemon {

namespace {
constexpr std::size_t kBytes = 64u << 10;

struct AlternateStack {
  std::unique_ptr<char[]> memory;
  ~AlternateStack() {
    if (memory != nullptr) {
      stack_t none{};
      none.ss_flags = SS_DISABLE;
      ::sigaltstack(&none, nullptr);
    }
  }
};
thread_local AlternateStack alternate_stack;
} // namespace

void use_alternate_stack() noexcept {
  if (alternate_stack.memory != nullptr) {
    return;
  }
  alternate_stack.memory.reset(new (std::nothrow) char[kBytes]);
  if (alternate_stack.memory != nullptr) {
    stack_t stack{};
    stack.ss_sp = alternate_stack.memory.get();
    stack.ss_size = kBytes;
    ::sigaltstack(&stack, nullptr);
  }
}

} // namespace farcl::daemon
