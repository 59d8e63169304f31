// The compiler's own LLVM passes. Each stands in its own *_pass.cpp; passes.def lists them by name for kc-opt and its tests.
#pragma once

#include <llvm/IR/PassManager.h>

#include <cstdint>

namespace farcl::kernel_compiler {

#define FARCL_MODULE_PASS(NAME, CLASS, SUMMARY)                                               \
  class CLASS : public llvm::PassInfoMixin<CLASS> {                                           \
  public:                                                                                     \
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses); \
    static bool isRequired() { return true; }                                                 \
  };
#include "passes.def"
#undef FARCL_MODULE_PASS

} // namespace farcl::kernel_compiler
