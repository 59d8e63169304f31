// Kernels become one function each: work-item functions, barriers, printf and local variables have a meaning only inside a
// kernel's body, and LLVM vectorises only what is inlined. Functions that need a kernel's context are always inlined; the rest
// only while the program stays within a budget (a chain of functions that each call the next one twice doubles every time).

#include "failure.hpp"
#include "markers.hpp"
#include "passes.hpp"
#include "work_item_functions.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

/// Instructions of one function after everything it calls was inlined.
constexpr std::uint64_t kMaxInlinedInstructions = 40'000;
constexpr std::uint64_t kMaxForcedInstructions = 400'000;

struct Size {
  std::uint64_t instructions = 0;
  bool needs_kernel = false; ///< reaches something that has a meaning only inside a kernel
};

class Inliner {
public:
  explicit Inliner(Module& module) : module_(module) {}

  void run() {
    CallGraph graph(module_);
    for (CallGraphNode* node : post_order(&graph)) {
      if (Function* function = node->getFunction(); function != nullptr && !function->isDeclaration()) {
        decide(*function);
      }
    }
  }

private:
  void decide(Function& function) {
    Size& size = sizes_[&function];
    for (Instruction& instruction : instructions(function)) {
      ++size.instructions;
      size.needs_kernel |= uses_local_variable(instruction);
      if (auto* call = dyn_cast<CallBase>(&instruction)) {
        add_callee(size, *call);
      }
    }
    function.removeFnAttr(Attribute::NoInline);
    function.removeFnAttr(Attribute::OptimizeNone);
    function.removeFnAttr(Attribute::InlineHint);
    function.removeFnAttr(Attribute::AlwaysInline);
    if (function.hasFnAttribute(kKernelAttribute)) {
      if (size.instructions > kMaxForcedInstructions) {
        refuse(module_.getContext(), "kernel '" + source_name(function) + "' is too large: about " + std::to_string(size.instructions) +
                                         " instructions after inlining");
      }
      return;
    }
    const std::uint64_t limit = size.needs_kernel ? kMaxForcedInstructions : kMaxInlinedInstructions;
    if (size.instructions <= limit) {
      function.addFnAttr(Attribute::AlwaysInline);
      return;
    }
    function.addFnAttr(Attribute::NoInline);
    if (size.needs_kernel) {
      refuse(module_.getContext(), "function '" + source_name(function) + "' is too large: about " + std::to_string(size.instructions) +
                                       " instructions after inlining");
    }
  }

  void add_callee(Size& size, CallBase& call) {
    Function* callee = call.getCalledFunction();
    if (callee == nullptr || callee->isIntrinsic()) {
      return;
    }
    if (callee->isDeclaration()) {
      size.needs_kernel |= is_lowered_later(callee->getName());
      return;
    }
    const Size& inner = sizes_[callee];
    size.needs_kernel |= inner.needs_kernel;
    if (callee->hasFnAttribute(Attribute::AlwaysInline)) {
      size.instructions += inner.instructions;
    }
    call.removeFnAttr(Attribute::NoInline);
  }

  static bool uses_local_variable(const Instruction& instruction) {
    for (const Value* operand : instruction.operands()) {
      const auto* variable = dyn_cast<GlobalVariable>(operand->stripInBoundsConstantOffsets());
      if (variable != nullptr && variable->hasAttribute(kLocalAttribute)) {
        return true;
      }
    }
    return false;
  }

  Module& module_;
  DenseMap<const Function*, Size> sizes_;
};

} // namespace

PreservedAnalyses InlinePass::run(Module& module, ModuleAnalysisManager&) {
  Inliner(module).run();
  return PreservedAnalyses::none();
}

} // namespace farcl::kernel_compiler
