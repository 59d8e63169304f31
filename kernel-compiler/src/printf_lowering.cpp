#include "printf_lowering.hpp"

#include "abi_types.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

/// The helper's locals stay out of the kernel's frame because the helper is never inlined.
class PrintfHelper {
public:
  explicit PrintfHelper(CallInst& call) : module_(*call.getModule()), context_(call.getContext()), call_(call) {}

  Function* make() {
    SmallVector<Type*> types = {PointerType::get(context_, 0)};
    for (Value* argument : call_.args()) {
      types.push_back(argument->getType());
    }
    function_ = Function::Create(FunctionType::get(Type::getInt32Ty(context_), types, false), GlobalValue::InternalLinkage, "farcl.printf",
                                 &module_);
    function_->addFnAttr(Attribute::NoInline);
    function_->addFnAttr(Attribute::NoUnwind);
    IRBuilder<> builder(BasicBlock::Create(context_, "", function_));
    describe_arguments();
    auto* data = builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), std::max<std::uint32_t>(size_, 1)));
    data->setAlignment(Align(16));
    for (unsigned i = 0; i < values_.size(); ++i) {
      store(builder, data, i);
    }
    builder.CreateRet(emit_write(builder, data));
    return function_;
  }

private:
  /// One FarclPrintfArgument per value, as a constant.
  void describe_arguments() {
    for (Argument& argument : drop_begin(function_->args(), 2)) {
      Type* type = argument.getType();
      const auto* vector = dyn_cast<FixedVectorType>(type);
      Type* element = type->getScalarType();
      const bool is_half = element->isHalfTy();
      const std::uint32_t bytes = is_half ? 4 : static_cast<std::uint32_t>(module_.getDataLayout().getTypeStoreSize(element));
      const std::uint32_t count = vector != nullptr ? vector->getNumElements() : 1;
      const int kind = element->isPointerTy()         ? FARCL_PRINTF_POINTER
                       : element->isFloatingPointTy() ? FARCL_PRINTF_FLOAT
                                                      : FARCL_PRINTF_INTEGER;
      offsets_.push_back(size_);
      values_.push_back(&argument);
      IntegerType* word = Type::getInt32Ty(context_);
      descriptors_.push_back(ConstantInt::get(word, size_));
      descriptors_.push_back(ConstantInt::get(word, bytes | count << 16 | static_cast<std::uint32_t>(kind) << 24));
      size_ = static_cast<std::uint32_t>(alignTo(size_ + bytes * count, 8));
    }
  }

  void store(IRBuilder<>& builder, Value* data, unsigned i) {
    Value* value = values_[i];
    Type* type = value->getType();
    if (type->getScalarType()->isHalfTy()) {
      value = builder.CreateFPExt(value, type->getWithNewType(builder.getFloatTy()));
    }
    // Element by element: a vector of three must not write a fourth.
    const auto* vector = dyn_cast<FixedVectorType>(value->getType());
    const unsigned count = vector != nullptr ? vector->getNumElements() : 1;
    const std::uint64_t step = module_.getDataLayout().getTypeStoreSize(value->getType()->getScalarType());
    for (unsigned element = 0; element < count; ++element) {
      Value* one = vector != nullptr ? builder.CreateExtractElement(value, element) : value;
      builder.CreateAlignedStore(one, builder.CreateConstGEP1_64(builder.getInt8Ty(), data, offsets_[i] + step * element), Align(1));
    }
  }

  Value* emit_write(IRBuilder<>& builder, Value* data) {
    auto* table = ConstantArray::get(ArrayType::get(builder.getInt32Ty(), descriptors_.size()), descriptors_);
    auto* table_variable = new GlobalVariable(module_, table->getType(), true, GlobalValue::InternalLinkage, table, "farcl.printf.args");
    table_variable->setAlignment(Align(8));
    Type* pointer = builder.getPtrTy();
    auto* record_type = StructType::get(pointer, pointer, pointer, builder.getInt32Ty(), builder.getInt32Ty());
    Value* record = builder.CreateAlloca(record_type);
    const std::array<Value*, 5> fields = {function_->getArg(1), table_variable, data,
                                          builder.getInt32(static_cast<std::uint32_t>(values_.size())), builder.getInt32(size_)};
    for (unsigned i = 0; i < fields.size(); ++i) {
      builder.CreateStore(fields[i], builder.CreateStructGEP(record_type, record, i));
    }
    Value* launch = function_->getArg(0);
    Value* context = load_field(builder, pointer, launch, offsetof(FarclLaunch, printf_context), "context");
    Value* write = load_field(builder, pointer, launch, offsetof(FarclLaunch, printf_write), "write");
    auto* type = FunctionType::get(builder.getInt32Ty(), {pointer, pointer}, false);
    return builder.CreateCall(type, write, {context, record});
  }

  Module& module_;
  LLVMContext& context_;
  CallInst& call_;
  Function* function_ = nullptr;
  SmallVector<Constant*> descriptors_;
  SmallVector<Value*> values_;
  SmallVector<std::uint32_t> offsets_;
  std::uint32_t size_ = 0;
};

static_assert(sizeof(FarclPrintfArgument) == 8 && offsetof(FarclPrintfArgument, element_size) == 4 &&
              offsetof(FarclPrintfArgument, element_count) == 6 && offsetof(FarclPrintfArgument, kind) == 7);
static_assert(offsetof(FarclPrintfRecord, arguments) == 8 && offsetof(FarclPrintfRecord, data) == 16 &&
              offsetof(FarclPrintfRecord, argument_count) == 24 && offsetof(FarclPrintfRecord, data_size) == 28);

} // namespace

Value* lower_printf(IRBuilder<>& builder, CallInst& call, Value* launch) {
  Function* helper = PrintfHelper(call).make();
  SmallVector<Value*> arguments = {launch};
  arguments.append(call.arg_begin(), call.arg_end());
  return builder.CreateCall(helper, arguments);
}

} // namespace farcl::kernel_compiler
