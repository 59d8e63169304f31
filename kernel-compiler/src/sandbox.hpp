// What a build child may use. It works on a hostile source with a very large program (clang): it gets time, memory and
// processor up to a limit, no files, no network and no other programs.
#pragma once

#include "farcl/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace farcl::kernel_compiler {

struct BuildLimits {
  std::chrono::seconds wall{60};
  std::uint64_t memory_bytes = 4ULL << 30;
  std::uint64_t output_bytes = 512ULL << 20;
};

/// In the child, before it looks at the request. Keeps the given descriptors (above 2), closes all others; standard error leads
/// nowhere.
/// Where the kernel lacks Landlock or seccomp, the resource limits remain.
Status enter_sandbox(pid_t parent, const BuildLimits& limits, const std::vector<int>& kept);

} // namespace farcl::kernel_compiler
