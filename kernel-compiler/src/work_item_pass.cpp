// Each kernel becomes a body: the same function with the launch, the group and the work-item's local id as further parameters
// (BodyParameter). Work-item functions, the local memory block and printf are lowered to uses of those.

#include "abi_types.hpp"
#include "markers.hpp"
#include "passes.hpp"
#include "printf_lowering.hpp"
#include "work_item_functions.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <array>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

/// Answers of the size functions for dimensions past the third are 1, of the id functions 0.
constexpr std::uint64_t kSizeOutside = 1;
constexpr std::uint64_t kIdOutside = 0;

class Body {
public:
  explicit Body(Function& kernel) : kernel_(kernel), module_(*kernel.getParent()) {}

  void make() {
    create();
    SmallVector<CallInst*> calls;
    for (Instruction& instruction : instructions(*body_)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call != nullptr && call->getCalledFunction() != nullptr) {
        calls.push_back(call);
      }
    }
    for (CallInst* call : calls) {
      lower(*call);
    }
    kernel_.eraseFromParent();
  }

private:
  void create() {
    LLVMContext& context = module_.getContext();
    SmallVector<Type*> types(kernel_.getFunctionType()->params());
    Type* pointer = PointerType::get(context, 0);
    Type* word = Type::getInt64Ty(context);
    types.append({pointer, pointer, word, word, word, word, word, word});
    body_ = Function::Create(FunctionType::get(Type::getVoidTy(context), types, false), GlobalValue::ExternalLinkage,
                             kernel_.getName() + kBodySuffix, &module_);
    body_->copyAttributesFrom(&kernel_);
    body_->copyMetadata(&kernel_, 0);
    body_->splice(body_->begin(), &kernel_);
    for (auto [from, to] : zip_first(kernel_.args(), body_->args())) {
      to.takeName(&from);
      from.replaceAllUsesWith(&to);
    }
    first_ = kernel_.arg_size();
    constexpr std::array<const char*, kBodyParameterCount> kNames = {"launch",  "group",  "local.x", "local.y",
                                                                     "local.z", "base.x", "base.y",  "base.z"};
    for (unsigned i = 0; i < kBodyParameterCount; ++i) {
      parameter(i)->setName(kNames[i]);
    }
    for (unsigned i : {unsigned(kBodyLaunch), unsigned(kBodyGroup)}) {
      parameter(i)->addAttr(Attribute::NoAlias);
      parameter(i)->addAttr(Attribute::ReadOnly);
      parameter(i)->addAttr(Attribute::NonNull);
      parameter(i)->addAttr(Attribute::getWithDereferenceableBytes(context, i == kBodyLaunch ? sizeof(FarclLaunch) : sizeof(FarclGroup)));
    }
    required_ = required_group_size(*body_);
  }

  Argument* parameter(unsigned index) { return body_->getArg(first_ + index); }

  void lower(CallInst& call) {
    const StringRef name = call.getCalledFunction()->getName();
    IRBuilder<> builder(&call);
    Value* result = nullptr;
    if (const auto function = find_work_item_function(name)) {
      result = lower_work_item(builder, *function, call);
    } else if (name == kLocalBaseFunction) {
      LoadInst* base = load_field(builder, builder.getPtrTy(), parameter(kBodyGroup), offsetof(FarclGroup, local_memory), "local");
      base->setMetadata(LLVMContext::MD_align,
                        MDNode::get(base->getContext(), ConstantAsMetadata::get(builder.getInt64(FARCL_KERNEL_MEMORY_ALIGNMENT))));
      result = base;
    } else if (is_printf(name)) {
      body_->addFnAttr(kPrintfAttribute);
      result = lower_printf(builder, call, parameter(kBodyLaunch));
    } else {
      return;
    }
    call.replaceAllUsesWith(result);
    call.eraseFromParent();
  }

  Value* lower_work_item(IRBuilder<>& builder, WorkItemFunction function, CallInst& call) {
    switch (function) {
    case WorkItemFunction::kWorkDim:
      return load_field(builder, builder.getInt32Ty(), parameter(kBodyLaunch), offsetof(FarclLaunch, work_dim), "work_dim");
    case WorkItemFunction::kGlobalLinearId: return global_linear_id(builder);
    case WorkItemFunction::kLocalLinearId:
      return linear(builder, {parameter(kBodyLocalId), parameter(kBodyLocalId + 1), parameter(kBodyLocalId + 2)}, local_size(builder, 0),
                    local_size(builder, 1));
    default: return by_dimension(builder, function, call.getArgOperand(0));
    }
  }

  Value* by_dimension(IRBuilder<>& builder, WorkItemFunction function, Value* dimension) {
    const bool is_size = function == WorkItemFunction::kGlobalSize || function == WorkItemFunction::kLocalSize ||
                         function == WorkItemFunction::kEnqueuedLocalSize || function == WorkItemFunction::kNumGroups;
    Value* outside = builder.getInt64(is_size ? kSizeOutside : kIdOutside);
    if (auto* constant = dyn_cast<ConstantInt>(dimension)) {
      const std::uint64_t index = constant->getZExtValue();
      return index < 3 ? value(builder, function, static_cast<unsigned>(index)) : outside;
    }
    Value* result = outside;
    for (unsigned i = 0; i < 3; ++i) {
      result = builder.CreateSelect(builder.CreateICmpEQ(dimension, builder.getInt32(i)), value(builder, function, i), result);
    }
    return result;
  }

  Value* value(IRBuilder<>& builder, WorkItemFunction function, unsigned i) {
    switch (function) {
    case WorkItemFunction::kGlobalSize: return launch_word(builder, offsetof(FarclLaunch, global_size), i, "global_size");
    case WorkItemFunction::kGlobalOffset: return launch_word(builder, offsetof(FarclLaunch, global_offset), i, "global_offset");
    case WorkItemFunction::kNumGroups: return launch_word(builder, offsetof(FarclLaunch, num_groups), i, "num_groups");
    case WorkItemFunction::kEnqueuedLocalSize:
      return required_[i] != 0 ? builder.getInt64(required_[i])
                               : launch_word(builder, offsetof(FarclLaunch, local_size), i, "enqueued_local_size");
    case WorkItemFunction::kLocalSize: return local_size(builder, i);
    case WorkItemFunction::kGroupId:
      return load_field(builder, builder.getInt64Ty(), parameter(kBodyGroup), offsetof(FarclGroup, group_id) + 8 * i, "group_id");
    case WorkItemFunction::kLocalId: return parameter(kBodyLocalId + i);
    case WorkItemFunction::kGlobalId: return builder.CreateNUWAdd(parameter(kBodyGroupBase + i), parameter(kBodyLocalId + i), "global_id");
    default: llvm_unreachable("not a function of one dimension");
    }
  }

  Value* launch_word(IRBuilder<>& builder, std::size_t offset, unsigned i, const char* name) {
    return load_field(builder, builder.getInt64Ty(), parameter(kBodyLaunch), offset + 8 * i, name);
  }

  Value* local_size(IRBuilder<>& builder, unsigned i) {
    if (required_[i] != 0) {
      return builder.getInt64(required_[i]);
    }
    return load_field(builder, builder.getInt64Ty(), parameter(kBodyGroup), offsetof(FarclGroup, local_size) + 8 * i, "local_size");
  }

  Value* global_linear_id(IRBuilder<>& builder) {
    std::array<Value*, 3> ids{};
    for (unsigned i = 0; i < 3; ++i) {
      ids[i] = builder.CreateSub(value(builder, WorkItemFunction::kGlobalId, i), value(builder, WorkItemFunction::kGlobalOffset, i));
    }
    return linear(builder, ids, value(builder, WorkItemFunction::kGlobalSize, 0), value(builder, WorkItemFunction::kGlobalSize, 1));
  }

  static Value* linear(IRBuilder<>& builder, std::array<Value*, 3> ids, Value* size_x, Value* size_y) {
    Value* rows = builder.CreateAdd(builder.CreateMul(ids[2], size_y), ids[1]);
    return builder.CreateAdd(builder.CreateMul(rows, size_x), ids[0]);
  }

  Function& kernel_;
  Module& module_;
  Function* body_ = nullptr;
  unsigned first_ = 0;
  std::array<std::uint64_t, 3> required_{};
};

} // namespace

PreservedAnalyses WorkItemPass::run(Module& module, ModuleAnalysisManager&) {
  SmallVector<Function*> kernels;
  for (Function& function : module) {
    if (function.hasFnAttribute(kKernelAttribute) && !function.isDeclaration()) {
      kernels.push_back(&function);
    }
  }
  for (Function* kernel : kernels) {
    Body(*kernel).make();
  }
  return PreservedAnalyses::none();
}

} // namespace farcl::kernel_compiler
