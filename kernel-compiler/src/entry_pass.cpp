// The exported function of a kernel, FarclKernelFunction: unpacks the arguments once and runs all work-items of a group.
//
// Without barriers: three nested loops, x innermost, around the body, which is inlined. Work-items are independent, so the
// body's accesses to anything but its own stack are marked as parallel, and LLVM vectorises across work-items.
// With barriers (the body is a coroutine, already split): every work-item runs to its first barrier, then all are resumed in
// rounds until none is left.

#include "abi_types.hpp"
#include "failure.hpp"
#include "markers.hpp"
#include "passes.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <array>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

/// Frames of a whole group must stay allocatable: 4096 items of this size are 1 GiB.
constexpr std::uint64_t kMaxFrameBytes = 256 * 1024;
/// Frames start on their own cache line.
constexpr std::uint64_t kFrameAlignment = 64;

class Entry {
public:
  explicit Entry(Function& body)
      : body_(body), module_(*body.getParent()), name_(body.getFnAttribute(kKernelAttribute).getValueAsString().str()),
        is_coroutine_(body.hasFnAttribute(kCoroutineAttribute)), builder_(body.getContext()) {}

  void make() {
    create();
    read_sizes();
    unpack_arguments();
    if (is_coroutine_) {
      take_frame_size();
      run_rounds();
    } else {
      mark_parallel();
      run_loops();
    }
    copy_kernel_facts();
  }

private:
  LLVMContext& context() { return module_.getContext(); }

  void create() {
    Type* pointer = builder_.getPtrTy();
    auto* type = FunctionType::get(builder_.getVoidTy(), {pointer, pointer, pointer}, false);
    entry_ = Function::Create(type, GlobalValue::ExternalLinkage, kExportPrefix + name_, &module_);
    entry_->setVisibility(GlobalValue::DefaultVisibility);
    constexpr std::array<const char*, 3> kNames = {"launch", "group", "arguments"};
    for (unsigned i = 0; i < kNames.size(); ++i) {
      entry_->getArg(i)->setName(kNames[i]);
      entry_->getArg(i)->addAttr(Attribute::NoAlias);
      entry_->getArg(i)->addAttr(Attribute::ReadOnly);
      entry_->getArg(i)->addAttr(Attribute::NonNull);
    }
    entry_->getArg(0)->addAttr(Attribute::getWithDereferenceableBytes(context(), sizeof(FarclLaunch)));
    entry_->getArg(1)->addAttr(Attribute::getWithDereferenceableBytes(context(), sizeof(FarclGroup)));
    for (const Attribute attribute : body_.getAttributes().getFnAttrs()) {
      if (attribute.isStringAttribute() && !attribute.getKindAsString().starts_with("farcl-")) {
        entry_->addFnAttr(attribute);
      }
    }
    entry_->addFnAttr(Attribute::NoUnwind);
    builder_.SetInsertPoint(BasicBlock::Create(context(), "entry", entry_));
  }

  void read_sizes() {
    for (unsigned i = 0; i < 3; ++i) {
      sizes_[i] = local_size(i);
      Value* group = load_field(builder_, builder_.getInt64Ty(), entry_->getArg(1), offsetof(FarclGroup, group_id) + 8 * i, "group");
      Value* local = load_field(builder_, builder_.getInt64Ty(), entry_->getArg(0), offsetof(FarclLaunch, local_size) + 8 * i, "enqueued");
      Value* offset =
          load_field(builder_, builder_.getInt64Ty(), entry_->getArg(0), offsetof(FarclLaunch, global_offset) + 8 * i, "offset");
      bases_[i] = builder_.CreateAdd(builder_.CreateMul(group, local), offset, "base");
    }
  }

  Value* local_size(unsigned i) {
    if (const std::uint64_t required = required_group_size(body_)[i]; required != 0) {
      return builder_.getInt64(required);
    }
    LoadInst* size = load_field(builder_, builder_.getInt64Ty(), entry_->getArg(1), offsetof(FarclGroup, local_size) + 8 * i, "size");
    size->setMetadata(LLVMContext::MD_range, MDBuilder(context()).createRange(APInt(64, 1), APInt(64, 1ULL << 32)));
    return size;
  }

  void unpack_arguments() {
    const unsigned first = is_coroutine_ ? 1 : 0;
    const unsigned count = static_cast<unsigned>(body_.arg_size()) - first - kBodyParameterCount;
    for (unsigned i = 0; i < count; ++i) {
      const Argument* parameter = body_.getArg(first + i);
      Value* address = load_field(builder_, builder_.getPtrTy(), entry_->getArg(2), 8ULL * i, "address");
      if (parameter->hasByValAttr()) {
        arguments_.push_back(address);
        continue;
      }
      Type* type = parameter->getType();
      LoadInst* value = builder_.CreateAlignedLoad(type, address, argument_alignment(type), parameter->getName());
      value->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context(), {}));
      arguments_.push_back(value);
    }
  }

  Align argument_alignment(Type* type) const {
    return std::min(module_.getDataLayout().getABITypeAlign(type), Align(FARCL_KERNEL_MEMORY_ALIGNMENT));
  }

  SmallVector<Value*> body_arguments(ArrayRef<Value*> leading, std::array<Value*, 3> local) {
    SmallVector<Value*> all(leading);
    all.append(arguments_);
    all.append({entry_->getArg(0), entry_->getArg(1)});
    all.append(local.begin(), local.end());
    all.append(bases_.begin(), bases_.end());
    return all;
  }

  /// Opens "do { ... } while (++i < count)"; count is at least 1. Returns i; close_loop ends it.
  PHINode* open_loop(const Twine& name) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* header = BasicBlock::Create(context(), name, entry_);
    builder_.CreateBr(header);
    builder_.SetInsertPoint(header);
    PHINode* index = builder_.CreatePHI(builder_.getInt64Ty(), 2, name);
    index->addIncoming(builder_.getInt64(0), before);
    return index;
  }

  BranchInst* close_loop(PHINode* index, Value* count) {
    Value* next = builder_.CreateNUWAdd(index, builder_.getInt64(1));
    index->addIncoming(next, builder_.GetInsertBlock());
    BasicBlock* after = BasicBlock::Create(context(), "after", entry_);
    BranchInst* back = builder_.CreateCondBr(builder_.CreateICmpULT(next, count), index->getParent(), after);
    builder_.SetInsertPoint(after);
    return back;
  }

  void run_loops() {
    PHINode* z = open_loop("z");
    PHINode* y = open_loop("y");
    PHINode* x = open_loop("x");
    builder_.CreateCall(&body_, body_arguments({}, {x, y, z}));
    body_.addFnAttr(Attribute::AlwaysInline);
    annotate_loop(close_loop(x, sizes_[0]));
    annotate_loop(close_loop(y, sizes_[1]));
    annotate_loop(close_loop(z, sizes_[2]));
    builder_.CreateRetVoid();
  }

  void annotate_loop(BranchInst* back) {
    Metadata* parallel[] = {MDString::get(context(), "llvm.loop.parallel_accesses"), access_group_};
    MDNode* loop = MDNode::getDistinct(context(), {nullptr, MDNode::get(context(), parallel)});
    loop->replaceOperandWith(0, loop);
    back->setMetadata(LLVMContext::MD_loop, loop);
  }

  /// Not for the body's own stack: one slot serves all work-items in turn.
  void mark_parallel() {
    access_group_ = MDNode::getDistinct(context(), {});
    for (Instruction& instruction : instructions(body_)) {
      const Value* address = getLoadStorePointerOperand(&instruction);
      if (address != nullptr && is_shared(address)) {
        instruction.setMetadata(LLVMContext::MD_access_group, access_group_);
      }
    }
  }

  bool is_shared(const Value* address) const {
    SmallVector<const Value*> objects;
    getUnderlyingObjects(address, objects, nullptr, 16);
    return all_of(objects, [this](const Value* object) {
      const auto* argument = dyn_cast<Argument>(object);
      // What a pointer in memory points to is shared as well, unless the body's own stack could have been stored there.
      return (argument != nullptr && !argument->hasByValAttr()) || isa<GlobalVariable>(object) || (isa<LoadInst>(object) && !has_stack_);
    });
  }

  /// CoroSplit has replaced size and alignment by constants.
  void take_frame_size() {
    for (Instruction& instruction : make_early_inc_range(instructions(body_))) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call == nullptr || call->getCalledFunction() == nullptr || call->getCalledFunction()->getName() != kFrameSizeFunction) {
        continue;
      }
      const auto* size = dyn_cast<ConstantInt>(call->getArgOperand(0));
      const auto* alignment = dyn_cast<ConstantInt>(call->getArgOperand(1));
      if (size == nullptr || alignment == nullptr) {
        refuse(context(), "internal error: kernel '" + name_ + "' has no frame size");
        return;
      }
      stride_ = alignTo(size->getZExtValue(), std::max<std::uint64_t>(alignment->getZExtValue(), kFrameAlignment));
      call->eraseFromParent();
      break;
    }
    if (stride_ > kMaxFrameBytes) {
      refuse(context(), "kernel '" + name_ + "' needs " + std::to_string(stride_) + " bytes of private memory across barriers; at most " +
                            std::to_string(kMaxFrameBytes) + " are available");
    }
  }

  void run_rounds() {
    Function* resume = module_.getFunction((body_.getName() + ".resume").str());
    if (resume == nullptr) {
      refuse(context(), "internal error: kernel '" + name_ + "' was not split at its barriers");
      builder_.CreateRetVoid();
      return;
    }
    Value* frames = load_field(builder_, builder_.getPtrTy(), entry_->getArg(1), offsetof(FarclGroup, frames), "frames");
    start_all(frames);
    Value* items = builder_.CreateMul(builder_.CreateMul(sizes_[0], sizes_[1]), sizes_[2], "items");
    resume_all(frames, items, *resume);
    builder_.CreateRetVoid();
  }

  Value* frame_of(Value* frames, Value* index) {
    return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), frames, builder_.CreateNUWMul(index, builder_.getInt64(stride_)), "frame");
  }

  void start_all(Value* frames) {
    PHINode* z = open_loop("z");
    PHINode* y = open_loop("y");
    PHINode* x = open_loop("x");
    Value* index = builder_.CreateAdd(builder_.CreateMul(builder_.CreateAdd(builder_.CreateMul(z, sizes_[1]), y), sizes_[0]), x);
    builder_.CreateCall(&body_, body_arguments({frame_of(frames, index)}, {x, y, z}));
    close_loop(x, sizes_[0]);
    close_loop(y, sizes_[1]);
    close_loop(z, sizes_[2]);
  }

  /// A frame starts with the address of its resume function, null once the work-item has ended.
  void resume_all(Value* frames, Value* items, Function& resume) {
    BasicBlock* round = BasicBlock::Create(context(), "round", entry_);
    BasicBlock* done = BasicBlock::Create(context(), "done", entry_);
    builder_.CreateBr(round);
    builder_.SetInsertPoint(round);
    PHINode* item = open_loop("item");
    PHINode* alive_before = builder_.CreatePHI(builder_.getInt1Ty(), 2, "alive");
    alive_before->addIncoming(builder_.getFalse(), round);
    Value* frame = frame_of(frames, item);
    BasicBlock* check = builder_.GetInsertBlock();
    BasicBlock* run = BasicBlock::Create(context(), "run", entry_);
    BasicBlock* next = BasicBlock::Create(context(), "next", entry_);
    builder_.CreateCondBr(builder_.CreateIsNull(builder_.CreateLoad(builder_.getPtrTy(), frame)), next, run);
    builder_.SetInsertPoint(run);
    builder_.CreateCall(&resume, {frame})->setCallingConv(resume.getCallingConv());
    builder_.CreateBr(next);
    builder_.SetInsertPoint(next);
    PHINode* alive = builder_.CreatePHI(builder_.getInt1Ty(), 2, "alive");
    alive->addIncoming(alive_before, check);
    alive->addIncoming(builder_.getTrue(), run);
    alive_before->addIncoming(alive, next);
    close_loop(item, items);
    builder_.CreateCondBr(alive, round, done);
    builder_.SetInsertPoint(done);
  }

  void copy_kernel_facts() {
    entry_->addFnAttr(kKernelAttribute, name_);
    entry_->addFnAttr(kFrameBytesAttribute, std::to_string(stride_));
    for (const StringRef kind : {StringRef(kLocalBytesAttribute), StringRef(kPrintfAttribute)}) {
      if (body_.hasFnAttribute(kind)) {
        entry_->addFnAttr(body_.getFnAttribute(kind));
      }
    }
    body_.removeFnAttr(kKernelAttribute);
    body_.setVisibility(GlobalValue::DefaultVisibility);
    body_.setLinkage(GlobalValue::InternalLinkage);
  }

  Function& body_;
  Module& module_;
  std::string name_;
  bool is_coroutine_;
  bool has_stack_ = any_of(instructions(body_), [](const Instruction& instruction) { return isa<AllocaInst>(instruction); }) ||
                    any_of(body_.args(), [](const Argument& argument) { return argument.hasByValAttr(); });
  IRBuilder<> builder_;
  Function* entry_ = nullptr;
  std::array<Value*, 3> sizes_{};
  std::array<Value*, 3> bases_{};
  SmallVector<Value*> arguments_;
  MDNode* access_group_ = nullptr;
  std::uint64_t stride_ = 0;
};

} // namespace

PreservedAnalyses EntryPass::run(Module& module, ModuleAnalysisManager&) {
  SmallVector<Function*> bodies;
  for (Function& function : module) {
    // CoroSplit's clones (k.body.resume) carry the attributes of the body.
    if (function.hasFnAttribute(kKernelAttribute) && function.getName().ends_with(kBodySuffix)) {
      bodies.push_back(&function);
    }
  }
  for (Function* body : bodies) {
    Entry(*body).make();
  }
  return PreservedAnalyses::none();
}

} // namespace farcl::kernel_compiler
