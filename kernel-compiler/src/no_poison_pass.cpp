// The front end folds what C leaves undefined (1 / 0, 1 << 40 in constant arithmetic) to poison, and whole branches of a kernel
// may vanish behind it. OpenCL programs expect "some value". So constant poison and undef that the source itself produced
// become zeros, and conversions of floats out of the integer's range give some value as well. Runs first of all.

#include "passes.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

/// Where poison is the idiom for "filled in later" or "not used".
bool is_placeholder(const Instruction& user, unsigned operand) {
  return isa<InsertElementInst, InsertValueInst>(user) ? operand == 0 : isa<ShuffleVectorInst>(user);
}

bool replace_operands(Instruction& instruction) {
  bool changed = false;
  for (Use& use : instruction.operands()) {
    if (isa<UndefValue>(use.get()) && use->getType()->isFirstClassType() && !use->getType()->isMetadataTy() &&
        !use->getType()->isTokenTy() && !is_placeholder(instruction, use.getOperandNo())) {
      use.set(Constant::getNullValue(use->getType()));
      changed = true;
    }
  }
  return changed;
}

} // namespace

PreservedAnalyses NoPoisonPass::run(Module& module, ModuleAnalysisManager&) {
  bool changed = false;
  SmallVector<Instruction*> conversions;
  for (Function& function : module) {
    for (Instruction& instruction : instructions(function)) {
      changed |= replace_operands(instruction);
      if (isa<FPToSIInst, FPToUIInst>(instruction)) {
        conversions.push_back(&instruction);
      }
    }
  }
  for (Instruction* conversion : conversions) {
    IRBuilder<> builder(conversion->getNextNode());
    auto* frozen = cast<FreezeInst>(builder.CreateFreeze(conversion));
    conversion->replaceUsesWithIf(frozen, [&](Use& use) { return use.getUser() != frozen; });
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace farcl::kernel_compiler
