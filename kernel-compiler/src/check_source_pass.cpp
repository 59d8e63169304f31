// What clang accepts in OpenCL C but the language forbids or this device cannot do: recursion, inline assembly, computed goto,
// calls through pointers, traps, giant private arrays, extern functions that nobody defines, image and pipe types.
// Everything here is a sentence in the build log. Runs after the builtin library was linked in.

#include "failure.hpp"
#include "kernel_facts.hpp"
#include "passes.hpp"
#include "work_item_functions.hpp"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <set>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

class SourceChecker {
public:
  explicit SourceChecker(Module& module) : module_(module) {}

  void run() {
    check_recursion();
    for (Function& function : module_) {
      std::uint64_t private_bytes = 0;
      for (Instruction& instruction : instructions(function)) {
        check(function, instruction, private_bytes);
      }
      if (private_bytes > kMaxPrivateBytes) {
        complain("function '" + source_name(function) + "' needs " + std::to_string(private_bytes) + " bytes of private memory; at most " +
                 std::to_string(kMaxPrivateBytes) + " are available");
      }
    }
    for (GlobalVariable& variable : module_.globals()) {
      if (variable.isDeclaration() && !variable.use_empty()) {
        complain("undefined variable '" + variable.getName().str() + "'");
      }
    }
  }

private:
  void check(Function& function, Instruction& instruction, std::uint64_t& private_bytes) {
    if (auto* call = dyn_cast<CallBase>(&instruction)) {
      check_call(function, *call);
    } else if (isa<IndirectBrInst>(instruction)) {
      complain("function '" + source_name(function) + "' uses computed goto, which OpenCL C does not have");
    } else if (auto* variable = dyn_cast<AllocaInst>(&instruction)) {
      const std::optional<TypeSize> size = variable->getAllocationSize(module_.getDataLayout());
      if (!size) {
        complain("function '" + source_name(function) + "' has an array of variable length");
      } else {
        private_bytes = SaturatingAdd(private_bytes, std::uint64_t(size->getFixedValue()));
      }
    }
    if (instruction.getType()->isTargetExtTy()) {
      complain("function '" + source_name(function) + "' uses an image, sampler, pipe or event type that this device does not have");
    }
  }

  void check_call(Function& function, CallBase& call) {
    if (call.isInlineAsm()) {
      complain("function '" + source_name(function) + "' has inline assembly");
      return;
    }
    Function* callee = call.getCalledFunction();
    if (callee == nullptr) {
      complain("function '" + source_name(function) + "' calls through a function pointer");
    } else if (const Intrinsic::ID id = callee->getIntrinsicID();
               id == Intrinsic::trap || id == Intrinsic::debugtrap || id == Intrinsic::ubsantrap) {
      complain("function '" + source_name(function) + "' uses a trap builtin");
    } else if (id == Intrinsic::vastart || id == Intrinsic::read_register || id == Intrinsic::write_register ||
               id == Intrinsic::stacksave || id == Intrinsic::returnaddress || id == Intrinsic::frameaddress ||
               id == Intrinsic::eh_sjlj_setjmp || id == Intrinsic::eh_sjlj_longjmp) {
      complain("function '" + source_name(function) + "' uses a builtin that kernels may not use (" + callee->getName().str() + ")");
    } else if (callee->isDeclaration() && !callee->isIntrinsic() && !is_lowered_later(callee->getName()) &&
               !is_host_function(callee->getName())) {
      complain("undefined function '" + demangle(callee->getName().str()) + "', called from '" + source_name(function) + "'");
    }
  }

  void check_recursion() {
    CallGraph graph(module_);
    for (auto scc = scc_begin(&graph); !scc.isAtEnd(); ++scc) {
      if (scc.hasCycle()) {
        for (CallGraphNode* node : *scc) {
          if (node->getFunction() != nullptr) {
            complain("function '" + source_name(*node->getFunction()) + "' is recursive, which OpenCL C does not allow");
            break;
          }
        }
      }
    }
  }

  void complain(const std::string& sentence) {
    if (said_.insert(sentence).second) {
      refuse(module_.getContext(), sentence);
    }
  }

  Module& module_;
  std::set<std::string> said_;
};

} // namespace

PreservedAnalyses CheckSourcePass::run(Module& module, ModuleAnalysisManager&) {
  SourceChecker(module).run();
  return PreservedAnalyses::all();
}

} // namespace farcl::kernel_compiler
