// Static __local variables: each kernel gets a layout of those it uses, in one block that the worker allocates per group.
// An access becomes block + offset; the block's address is a marker call that WorkItemPass lowers. Runs after inlining, when
// every use stands in a kernel.

#include "failure.hpp"
#include "markers.hpp"
#include "passes.hpp"

#include "farcl/kernel_compiler/kernel_abi.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Support/Alignment.h>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

/// CL_DEVICE_LOCAL_MEM_SIZE may be smaller; this only keeps the arithmetic sane.
constexpr std::uint64_t kMaxStaticLocalBytes = 64ULL << 20;

class LocalLayout {
public:
  explicit LocalLayout(Module& module) : module_(module) {}

  void run() {
    SmallVector<Constant*> variables;
    for (GlobalVariable& variable : module_.globals()) {
      if (variable.hasAttribute(kLocalAttribute)) {
        variables.push_back(&variable);
      }
    }
    convertUsersOfConstantsToInstructions(variables);
    for (Constant* variable : variables) {
      place(cast<GlobalVariable>(*variable));
    }
    for (auto [function, bytes] : bytes_) {
      if (bytes > kMaxStaticLocalBytes) {
        refuse(module_.getContext(), "kernel '" + source_name(*function) + "' needs " + std::to_string(bytes) + " bytes of local memory");
      }
      function->addFnAttr(kLocalBytesAttribute, std::to_string(alignTo(bytes, FARCL_KERNEL_MEMORY_ALIGNMENT)));
    }
  }

private:
  void place(GlobalVariable& variable) {
    DenseMap<Function*, Value*> addresses;
    for (Use& use : make_early_inc_range(variable.uses())) {
      auto* user = dyn_cast<Instruction>(use.getUser());
      if (user == nullptr) {
        continue;
      }
      Value*& address = addresses[user->getFunction()];
      if (address == nullptr) {
        address = address_in(*user->getFunction(), variable);
      }
      use.set(address);
    }
    variable.removeDeadConstantUsers();
    if (variable.use_empty()) {
      variable.eraseFromParent();
    }
  }

  Value* address_in(Function& kernel, GlobalVariable& variable) {
    const DataLayout& layout = module_.getDataLayout();
    const Align alignment = std::max(variable.getAlign().valueOrOne(), layout.getABITypeAlign(variable.getValueType()));
    std::uint64_t& bytes = bytes_[&kernel];
    const std::uint64_t offset = alignTo(bytes, alignment);
    bytes = SaturatingAdd(offset, std::uint64_t(layout.getTypeAllocSize(variable.getValueType()).getFixedValue()));
    IRBuilder<> builder(&*kernel.getEntryBlock().getFirstInsertionPt());
    FunctionCallee base = module_.getOrInsertFunction(kLocalBaseFunction, builder.getPtrTy());
    auto* function = cast<Function>(base.getCallee());
    function->setMemoryEffects(MemoryEffects::none());
    function->addFnAttr(Attribute::NoUnwind);
    function->addFnAttr(Attribute::WillReturn);
    return builder.CreateConstGEP1_64(builder.getInt8Ty(), builder.CreateCall(base), offset, variable.getName());
  }

  Module& module_;
  DenseMap<Function*, std::uint64_t> bytes_;
};

} // namespace

PreservedAnalyses LocalMemoryPass::run(Module& module, ModuleAnalysisManager&) {
  LocalLayout(module).run();
  return PreservedAnalyses::none();
}

} // namespace farcl::kernel_compiler
