// The functions of OpenCL C that depend on which work-item runs: declared by the source, lowered by WorkItemPass and
// CoroutinePass, never linked.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <optional>

namespace farcl::kernel_compiler {

enum class WorkItemFunction {
  kWorkDim,
  kGlobalSize,
  kGlobalId,
  kLocalSize,
  kEnqueuedLocalSize,
  kLocalId,
  kNumGroups,
  kGroupId,
  kGlobalOffset,
  kGlobalLinearId,
  kLocalLinearId,
};

std::optional<WorkItemFunction> find_work_item_function(llvm::StringRef mangled_name);
[[nodiscard]] bool is_barrier(llvm::StringRef mangled_name);
[[nodiscard]] bool is_printf(llvm::StringRef name);
/// A function of the C library that the builtin library may call.
[[nodiscard]] bool is_host_function(llvm::StringRef name);
/// Any of the first three.
[[nodiscard]] bool is_lowered_later(llvm::StringRef name);

} // namespace farcl::kernel_compiler
