// OpenCL C text to LLVM IR for spir64, by clang, without touching a file.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/kernel_compiler/messages.hpp"
#include "options.hpp"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>

namespace farcl::kernel_compiler {

/// What the front end needs from disk, read once.
class FrontEnd {
public:
  /// Reads clang's own base header; fails with a sentence if the installation is incomplete.
  static Result<FrontEnd> create();

  /// Null if the source has errors; `log` gets warnings and errors in any case.
  [[nodiscard]] std::unique_ptr<llvm::Module> run(const CompileRequest& request, const Options& options, llvm::LLVMContext& context,
                                                  std::string& log) const;

private:
  std::string base_header_;
};

/// Name of the program's main source in messages.
inline constexpr const char* kSourceName = "source.cl";

} // namespace farcl::kernel_compiler
