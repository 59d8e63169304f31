#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace farcl::kernel_compiler {

/// Emits, in place of a call of OpenCL C's printf, a call of a helper that packs the arguments into a FarclPrintfRecord and
/// hands it to FarclLaunch::printf_write. Returns printf's result.
llvm::Value* lower_printf(llvm::IRBuilder<>& builder, llvm::CallInst& call, llvm::Value* launch);

} // namespace farcl::kernel_compiler
