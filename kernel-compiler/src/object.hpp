// Optimised module to shared object.
#pragma once

#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace farcl::kernel_compiler {

/// The object file as bytes; empty if LLVM cannot.
llvm::SmallVector<char, 0> write_object(llvm::Module& module, llvm::TargetMachine& machine);

/// Writes the shared object into `output`, an empty memory file. Uses lld as a library, whose state allows one call per
/// process, and standard output, which is `output` afterwards.
Status write_shared_object(llvm::Module& module, llvm::TargetMachine& machine, int output);

} // namespace farcl::kernel_compiler
