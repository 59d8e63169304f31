// The objects of a session, as its tables hold them. Session thread only.
//
// Commands keep what they use by shared_ptr, so an object that the client has released lives until its last command is done.
#pragma once

#include "daemon/device/device.hpp"
#include "daemon/scheduler/command.hpp"
#include "daemon/session/budget.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace farcl::daemon {

struct Context {
  std::vector<std::uint32_t> devices; ///< indices; not empty
};

/// A buffer or a sub-buffer. A failed one has no memory; commands that use it fail with `failure`.
struct Buffer {
  protocol::ContextId context;
  std::shared_ptr<Buffer> parent; ///< of a sub-buffer
  Budget::Share share;            ///< declared before `memory`: counted until the memory has gone
  MemoryPtr memory;               ///< a sub-buffer's is its parent's
  std::uint64_t offset = 0;       ///< in `memory`
  std::uint64_t size_bytes = 0;
  cl_int failure = CL_SUCCESS;
  Command* initial_data = nullptr; ///< pending initial contents; kept by the parent only

  [[nodiscard]] Buffer& root() noexcept { return parent != nullptr ? *parent : *this; }
  [[nodiscard]] MemoryPlace place() const noexcept { return {memory.get(), offset}; }
};

/// What a builder made of a program. Replaced as a whole by the next build; commands keep the device program they use.
struct Program {
  protocol::ContextId context;
  std::vector<std::pair<ProgramBuilder*, BuildResult>> builds;

  [[nodiscard]] const BuildResult* build_for(const ProgramBuilder* builder) const noexcept {
    for (const auto& [one, result] : builds) {
      if (one == builder) {
        return &result;
      }
    }
    return nullptr;
  }
};

} // namespace farcl::daemon
