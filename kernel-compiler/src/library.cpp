#include "library.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

/// The library has one version of a function for private and generic pointers, under the private name.
std::string private_name(StringRef generic_name) {
  std::string name;
  while (!generic_name.empty()) {
    auto [before, after] = generic_name.split("U3AS4");
    name += before;
    generic_name = after;
  }
  return name;
}

/// Copies functions from the library into a program of the same context, with all that they refer to. LLVM's own linker would
/// walk through (and afterwards destroy) all 13,000 functions of the library in every build.
class Copier {
public:
  Copier(Module& program, Module& library) : program_(program), library_(library) {}

  Status run() {
    for (Function& function : program_) {
      if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty()) {
        wanted_.push_back(&function);
      }
    }
    for (Function* declaration : wanted_) {
      if (Function* source = find(*declaration)) {
        if (source->getFunctionType() != declaration->getFunctionType()) {
          return fail(ErrorCode::kInvalid,
                      "function '" + source->getName().str() + "' is declared with another type than OpenCL C gives it");
        }
        begin_copy(*source, declaration);
      }
    }
    while (!sources_.empty()) {
      if (auto copied = copy_body(*sources_.pop_back_val()); !copied) {
        return copied;
      }
    }
    return {};
  }

private:
  Function* find(const Function& declaration) {
    Function* source = library_.getFunction(declaration.getName());
    if (source == nullptr || source->isDeclaration()) {
      source = library_.getFunction(private_name(declaration.getName()));
    }
    return source != nullptr && !source->isDeclaration() ? source : nullptr;
  }

  /// The body follows in copy_body.
  void begin_copy(Function& source, Function* into) {
    into->setLinkage(GlobalValue::InternalLinkage);
    into->setAttributes(source.getAttributes());
    into->setDSOLocal(true);
    map_[&source] = into;
    sources_.push_back(&source);
  }

  Status copy_body(Function& source) {
    if (llvm::Error error = source.materialize()) {
      return fail(ErrorCode::kInternal, "the builtin library is damaged: " + toString(std::move(error)));
    }
    for (Instruction& instruction : instructions(source)) {
      for (Value* operand : instruction.operands()) {
        if (auto* constant = dyn_cast<Constant>(operand)) {
          prepare(*constant);
        }
      }
    }
    auto* into = cast<Function>(&*map_[&source]);
    for (auto [from, to] : zip(source.args(), into->args())) {
      map_[&from] = &to;
    }
    SmallVector<ReturnInst*> returns;
    CloneFunctionInto(into, &source, map_, CloneFunctionChangeType::DifferentModule, returns);
    into->setLinkage(GlobalValue::InternalLinkage);
    into->setVisibility(GlobalValue::DefaultVisibility);
    return {};
  }

  /// Every function and variable that a constant refers to gets its counterpart in the program.
  void prepare(Constant& constant) {
    if (map_.count(&constant) != 0) {
      return;
    }
    if (auto* function = dyn_cast<Function>(&constant)) {
      prepare_function(*function);
    } else if (auto* variable = dyn_cast<GlobalVariable>(&constant)) {
      prepare_variable(*variable);
    } else {
      for (Value* operand : constant.operands()) {
        prepare(*cast<Constant>(operand));
      }
    }
  }

  void prepare_function(Function& function) {
    if (function.isDeclaration()) {
      FunctionCallee callee = program_.getOrInsertFunction(function.getName(), function.getFunctionType(), function.getAttributes());
      map_[&function] = callee.getCallee();
      return;
    }
    begin_copy(function, Function::Create(function.getFunctionType(), GlobalValue::InternalLinkage, function.getName(), &program_));
  }

  void prepare_variable(GlobalVariable& variable) {
    auto* copy = new GlobalVariable(program_, variable.getValueType(), variable.isConstant(), GlobalValue::InternalLinkage, nullptr,
                                    variable.getName());
    copy->copyAttributesFrom(&variable);
    copy->setVisibility(GlobalValue::DefaultVisibility);
    copy->setDSOLocal(true);
    map_[&variable] = copy;
    if (variable.hasInitializer()) {
      prepare(*variable.getInitializer());
      copy->setInitializer(MapValue(variable.getInitializer(), map_));
    }
  }

  Module& program_;
  Module& library_;
  ValueToValueMapTy map_;
  SmallVector<Function*> wanted_;
  SmallVector<Function*> sources_;
};

} // namespace

Result<BuiltinLibrary> BuiltinLibrary::open(const std::string& path, LLVMContext& context) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer) {
    return fail(ErrorCode::kSystem, "cannot read the builtin library " + path + ": " + buffer.getError().message());
  }
  Expected<std::unique_ptr<Module>> module = getOwningLazyBitcodeModule(std::move(*buffer), context);
  if (!module) {
    return fail(ErrorCode::kInvalid, "the builtin library " + path + " is damaged: " + toString(module.takeError()));
  }
  BuiltinLibrary library;
  library.module_ = std::move(*module);
  library.path_ = path;
  return library;
}

Status BuiltinLibrary::link_into(Module& program) { return Copier(program, *module_).run(); }

} // namespace farcl::kernel_compiler
