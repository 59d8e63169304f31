// Optimised module to shared object.
#pragma once

#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace farcl::kernel_compiler {

/// Writes the shared object into `output`, an empty memory file. Uses lld as a library, whose state allows one call per
/// process, and standard output, which is `output` afterwards.
Status write_shared_object(llvm::Module& module, llvm::TargetMachine& machine, int output);

} // namespace farcl::kernel_compiler
