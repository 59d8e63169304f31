// From the front end's module (spir64) to an optimised module for this machine with one exported function per kernel.
#pragma once

#include "farcl/base/kernel_info.hpp"
#include "farcl/base/result.hpp"
#include "library.hpp"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace farcl::kernel_compiler {

struct LoweringOptions {
  bool optimise = true;
  bool uniform_work_groups = false; ///< every work-group is full
};

/// Kernels get their mark, everything defined becomes private and gets a name of its own.
void claim_definitions(llvm::Module& module, const LoweringOptions& options);
/// Calling conventions and address spaces of the front end become the host's. Needed before anything of the
/// module can meet the builtin library; used on the library itself when FarCL is built.
void adopt_host_conventions(llvm::Module& module, llvm::TargetMachine& machine);

/// Fills `info` with what is found on the way. A failure's sentence belongs into the build log.
Status lower(llvm::Module& module, BuiltinLibrary& library, llvm::TargetMachine& machine, const LoweringOptions& options,
             ProgramInfo& info);

} // namespace farcl::kernel_compiler
