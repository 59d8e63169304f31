// The portable form of a program: what clGetProgramInfo(CL_PROGRAM_BINARIES) returns and what links are made from. It comes
// back through the client, so it is checked before LLVM reads it.
#pragma once

#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"
#include "lowering.hpp"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>

namespace farcl::kernel_compiler {

struct LoadedBinary {
  std::unique_ptr<llvm::Module> module; ///< as the front end made it
  LoweringOptions options;
};

[[nodiscard]] ByteVector write_binary(const llvm::Module& module, const LoweringOptions& options);
Result<LoadedBinary> read_binary(ConstBytes bytes, llvm::LLVMContext& context);

} // namespace farcl::kernel_compiler
