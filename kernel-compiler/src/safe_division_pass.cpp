// OpenCL C leaves the result of x / 0 and MIN / -1 open, but the kernel must go on; x86 would trap and LLVM would treat them as
// unreachable. So every integer division whose divisor is not known to be harmless gets a divisor that is: 1 where it was 0,
// and 1 where it was -1 under MIN. The select is cheap beside the division. Runs before anything draws conclusions.

#include "passes.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

bool is_division(unsigned opcode) {
  return opcode == Instruction::SDiv || opcode == Instruction::UDiv || opcode == Instruction::SRem || opcode == Instruction::URem;
}

bool is_signed(unsigned opcode) { return opcode == Instruction::SDiv || opcode == Instruction::SRem; }

bool is_harmless_scalar(const Constant* constant, bool with_sign) {
  const auto* integer = dyn_cast_or_null<ConstantInt>(constant);
  return integer != nullptr && !integer->isZero() && !(with_sign && integer->isMinusOne());
}

bool is_harmless(const Value* divisor, bool with_sign) {
  const auto* constant = dyn_cast<Constant>(divisor);
  if (constant == nullptr) {
    return false;
  }
  const auto* vector = dyn_cast<FixedVectorType>(divisor->getType());
  if (vector == nullptr) {
    return is_harmless_scalar(constant, with_sign);
  }
  for (unsigned i = 0; i < vector->getNumElements(); ++i) {
    if (!is_harmless_scalar(constant->getAggregateElement(i), with_sign)) {
      return false;
    }
  }
  return true;
}

void make_safe(BinaryOperator& division) {
  IRBuilder<> builder(&division);
  Type* type = division.getType();
  Value* dividend = builder.CreateFreeze(division.getOperand(0));
  Value* divisor = builder.CreateFreeze(division.getOperand(1));
  Value* bad = builder.CreateICmpEQ(divisor, Constant::getNullValue(type));
  if (is_signed(division.getOpcode())) {
    const APInt minimum = APInt::getSignedMinValue(type->getScalarSizeInBits());
    Value* overflows = builder.CreateAnd(builder.CreateICmpEQ(dividend, ConstantInt::get(type, minimum)),
                                         builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(type)));
    bad = builder.CreateOr(bad, overflows);
  }
  division.setOperand(0, dividend);
  division.setOperand(1, builder.CreateSelect(bad, ConstantInt::get(type, 1), divisor));
  if (isa<PossiblyExactOperator>(division)) {
    division.setIsExact(false);
  }
}

} // namespace

PreservedAnalyses SafeDivisionPass::run(Module& module, ModuleAnalysisManager&) {
  SmallVector<BinaryOperator*> divisions;
  for (Function& function : module) {
    for (Instruction& instruction : instructions(function)) {
      auto* operation = dyn_cast<BinaryOperator>(&instruction);
      if (operation != nullptr && is_division(operation->getOpcode()) &&
          !is_harmless(operation->getOperand(1), is_signed(operation->getOpcode()))) {
        divisions.push_back(operation);
      }
    }
  }
  for (BinaryOperator* division : divisions) {
    make_safe(*division);
  }
  return divisions.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace farcl::kernel_compiler
