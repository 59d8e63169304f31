// The builtin library: OpenCL C's functions as bitcode, opened once per process, linked into each program as far as needed.
#pragma once

#include "farcl/base/result.hpp"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>

namespace farcl::kernel_compiler {

class BuiltinLibrary {
public:
  /// Functions are read from the file only when a program needs them.
  static Result<BuiltinLibrary> open(const std::string& path, llvm::LLVMContext& context);

  /// Gives `program`, a module of the same context, definitions of what it calls, as internal functions.
  Status link_into(llvm::Module& program);
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::unique_ptr<llvm::Module> module_;
  std::string path_;
};

} // namespace farcl::kernel_compiler
