// One compile request from beginning to end, in this process. Whoever does not trust the source runs it in a child (build_child).
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/kernel_compiler/messages.hpp"
#include "front_end.hpp"
#include "library.hpp"
#include "lowering.hpp"

#include <llvm/IR/LLVMContext.h>

#include <memory>
#include <string>

namespace farcl::kernel_compiler {

class Compiler {
public:
  /// Initialises LLVM and opens the builtin library.
  static Result<std::unique_ptr<Compiler>> create(const std::string& library_path);

  /// Writes the shared object, if one is asked for, into `output` (an empty memory file). Once per process: lld is
  /// used up. `may_optimise` false: as -cl-opt-disable, whatever the request says.
  CompileReplyData compile(const CompileRequest& request, int output, bool may_optimise);
  /// Exercises all parts once, so that children start with warm tables.
  void warm_up();
  /// Everything beside the request that decides what a build gives: versions, library, processor.
  [[nodiscard]] const std::string& identity() const { return identity_; }

  /// If not empty: the module's text is written there after lowering (for people).
  std::string ir_path;

private:
  Compiler(FrontEnd front_end, std::unique_ptr<llvm::LLVMContext> context, BuiltinLibrary library);

  struct Input {
    std::unique_ptr<llvm::Module> module;
    LoweringOptions options;
  };
  /// The front end's module from source or binaries; null with `reply` filled if there is none.
  Input read_input(const CompileRequest& request, const Options& options, CompileReplyData& reply);
  Input link_inputs(const CompileRequest& request, CompileReplyData& reply);
  void finish(Input input, int output, bool may_optimise, CompileReplyData& reply);

  FrontEnd front_end_;
  std::unique_ptr<llvm::LLVMContext> context_;
  BuiltinLibrary library_;
  std::string identity_;
};

/// Beside the program that runs (build tree and installed tree), or as FARCL_BUILTIN_LIBRARY says.
[[nodiscard]] std::string find_builtin_library();

} // namespace farcl::kernel_compiler
