// A kernel body with barriers becomes an LLVM coroutine: each barrier is a suspension point, what lives across it goes to a
// frame in memory that the caller of the work-group gives. That is right for a barrier in any place where all work-items reach
// it: loops, branches, called functions, with private arrays living across. CoroSplit then makes the frame's layout and the
// function that goes on after a barrier; EntryPass makes the loop over the work-items.
//
// The body gets one more parameter in front: its frame.

#include "abi_types.hpp"
#include "markers.hpp"
#include "passes.hpp"
#include "work_item_functions.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

class Coroutine {
public:
  Coroutine(Function& body, ArrayRef<CallInst*> barriers) : body_(body), barriers_(barriers), module_(*body.getParent()) {}

  void make() {
    create();
    cleanup_ = BasicBlock::Create(context(), "cleanup", function_);
    suspend_ = BasicBlock::Create(context(), "suspend", function_);
    begin();
    for (CallInst* barrier : barriers_) {
      suspend_at(*barrier);
    }
    end_returns();
    finish();
    body_.eraseFromParent();
  }

private:
  LLVMContext& context() { return module_.getContext(); }

  void create() {
    SmallVector<Type*> types = {PointerType::get(context(), 0)};
    types.append(body_.getFunctionType()->param_begin(), body_.getFunctionType()->param_end());
    function_ = Function::Create(FunctionType::get(Type::getVoidTy(context()), types, false), GlobalValue::ExternalLinkage, "", &module_);
    function_->takeName(&body_);
    function_->setVisibility(GlobalValue::HiddenVisibility);
    function_->copyMetadata(&body_, 0);
    function_->splice(function_->begin(), &body_);
    const AttributeList attributes = body_.getAttributes();
    SmallVector<AttributeSet> parameters = {AttributeSet()};
    for (unsigned i = 0; i < body_.arg_size(); ++i) {
      parameters.push_back(attributes.getParamAttrs(i));
    }
    function_->setAttributes(AttributeList::get(context(), attributes.getFnAttrs(), AttributeSet(), parameters));
    for (auto [from, to] : zip(body_.args(), drop_begin(function_->args()))) {
      to.takeName(&from);
      from.replaceAllUsesWith(&to);
    }
    function_->getArg(0)->setName("frame");
    function_->addFnAttr(Attribute::PresplitCoroutine);
    function_->addFnAttr(kCoroutineAttribute);
    function_->removeFnAttr(Attribute::NoRecurse);
  }

  void begin() {
    BasicBlock& first = function_->getEntryBlock();
    BasicBlock* start = BasicBlock::Create(context(), "start", function_, &first);
    // Static variables of the function stay in its first block.
    for (Instruction& instruction : make_early_inc_range(first)) {
      if (auto* variable = dyn_cast<AllocaInst>(&instruction); variable != nullptr && isa<ConstantInt>(variable->getArraySize())) {
        variable->moveBefore(*start, start->end());
      }
    }
    IRBuilder<> builder(start);
    Constant* null = ConstantPointerNull::get(builder.getPtrTy());
    Value* id = builder.CreateIntrinsic(Intrinsic::coro_id, {}, {builder.getInt32(0), null, null, null});
    Value* size = builder.CreateIntrinsic(Intrinsic::coro_size, {builder.getInt64Ty()}, {});
    Value* alignment = builder.CreateIntrinsic(Intrinsic::coro_align, {builder.getInt64Ty()}, {});
    FunctionCallee report =
        module_.getOrInsertFunction(kFrameSizeFunction, builder.getVoidTy(), builder.getInt64Ty(), builder.getInt64Ty());
    builder.CreateCall(report, {size, alignment});
    handle_ = builder.CreateIntrinsic(Intrinsic::coro_begin, {}, {id, function_->getArg(0)});
    builder.CreateBr(&first);
  }

  void suspend_at(CallInst& barrier) {
    BasicBlock* before = barrier.getParent();
    BasicBlock* after = before->splitBasicBlock(&barrier, "after.barrier");
    before->getTerminator()->eraseFromParent();
    emit_suspend(before, after, false);
    barrier.eraseFromParent();
  }

  void emit_suspend(BasicBlock* from, BasicBlock* resumed, bool is_final) {
    IRBuilder<> builder(from);
    Value* state = builder.CreateIntrinsic(Intrinsic::coro_suspend, {}, {ConstantTokenNone::get(context()), builder.getInt1(is_final)});
    SwitchInst* choice = builder.CreateSwitch(state, suspend_, 2);
    choice->addCase(builder.getInt8(0), resumed);
    choice->addCase(builder.getInt8(1), cleanup_);
  }

  void end_returns() {
    BasicBlock* last = BasicBlock::Create(context(), "last", function_);
    BasicBlock* never = BasicBlock::Create(context(), "never", function_);
    IRBuilder<>(never).CreateUnreachable();
    for (BasicBlock& block : *function_) {
      if (auto* leave = dyn_cast_or_null<ReturnInst>(block.getTerminator())) {
        leave->eraseFromParent();
        IRBuilder<>(&block).CreateBr(last);
      }
    }
    emit_suspend(last, never, true);
  }

  void finish() {
    IRBuilder<>(cleanup_).CreateBr(suspend_);
    IRBuilder<> builder(suspend_);
    builder.CreateIntrinsic(Intrinsic::coro_end, {}, {handle_, builder.getInt1(false), ConstantTokenNone::get(context())});
    builder.CreateRetVoid();
  }

  Function& body_;
  ArrayRef<CallInst*> barriers_;
  Module& module_;
  Function* function_ = nullptr;
  BasicBlock* cleanup_ = nullptr;
  BasicBlock* suspend_ = nullptr;
  Value* handle_ = nullptr;
};

} // namespace

PreservedAnalyses CoroutinePass::run(Module& module, ModuleAnalysisManager&) {
  SmallVector<Function*> bodies;
  for (Function& function : module) {
    if (function.hasFnAttribute(kKernelAttribute) && !function.isDeclaration()) {
      bodies.push_back(&function);
    }
  }
  for (Function* body : bodies) {
    SmallVector<CallInst*> barriers;
    for (Instruction& instruction : instructions(*body)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call != nullptr && call->getCalledFunction() != nullptr && is_barrier(call->getCalledFunction()->getName())) {
        barriers.push_back(call);
      }
    }
    if (!barriers.empty()) {
      Coroutine(*body, barriers).make();
    }
  }
  return PreservedAnalyses::none();
}

} // namespace farcl::kernel_compiler
