// KernelInfo of a program's kernels: what the source says (from the front end's metadata), and what the compiler found.
#pragma once

#include "farcl/base/kernel_info.hpp"

#include <llvm/IR/Module.h>

namespace farcl::kernel_compiler {

inline constexpr std::uint64_t kMaxWorkGroupSize = 4096;
/// Private memory of one work-item, after inlining; the worker's stacks are made for it.
inline constexpr std::uint64_t kMaxPrivateBytes = 256 * 1024;

/// From the front end's module: names, attributes, arguments.
[[nodiscard]] ProgramInfo describe_kernels(const llvm::Module& module);
/// From the module after WorkItemPass and simplification: cost and private memory of each body.
void measure_bodies(const llvm::Module& module, ProgramInfo& info);
/// From the module after EntryPass: local memory, frames, printf.
void measure_entries(const llvm::Module& module, ProgramInfo& info);

} // namespace farcl::kernel_compiler
