// How a pass refuses a program: a diagnostic of the LLVM context, collected by whoever runs the pipeline.
#pragma once

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/LLVMContext.h>

#include <string>

namespace farcl::kernel_compiler {

/// "error: <sentence>" in the build log, and the build fails after the pass.
void refuse(llvm::LLVMContext& context, const std::string& sentence);

/// What the source calls a function.
[[nodiscard]] std::string source_name(const llvm::Function& function);

/// Collects errors of one context while it lives.
class FailureCollector {
public:
  explicit FailureCollector(llvm::LLVMContext& context);
  ~FailureCollector();
  FailureCollector(const FailureCollector&) = delete;
  FailureCollector& operator=(const FailureCollector&) = delete;
  /// One line per error; empty if there was none.
  [[nodiscard]] const std::string& errors() const { return errors_; }

private:
  static void on_diagnostic(const llvm::DiagnosticInfo* info, void* self);
  llvm::LLVMContext& context_;
  std::string errors_;
};

} // namespace farcl::kernel_compiler
