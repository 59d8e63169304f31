// Made and run when FarCL is built: joins LLVM's libclc (compiled for nvptx64, the one variant that uses no intrinsics of a
// vendor) and FarCL's own builtins into the library that programs are linked to. Where both define a function, ours is taken.
//
//   kc-prepare-library OUTPUT OWN.bc LIBCLC.bc

#include "../src/lowering.hpp"
#include "../src/target.hpp"
#include "../src/work_item_functions.hpp"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

namespace {

/// nvptx64 numbers __constant 4; spir64, by which the sources' names are made, 2. (Generic pointers have no number there.)
void rename_constant_pointers(Module& module) {
  for (Function& function : module) {
    std::string name = function.getName().str();
    for (std::size_t at = name.find("U3AS4"); at != std::string::npos; at = name.find("U3AS4", at)) {
      name[at + 4] = '2';
    }
    if (name != function.getName()) {
      function.setName(name);
    }
  }
}

/// libclc reads its tables out of bounds for some large arguments, whose result does not depend on what it reads: every
/// index that is not constant stays within its table.
void clamp_table_indices(Module& module) {
  SmallVector<GetElementPtrInst*> accesses;
  for (Function& function : module) {
    for (Instruction& instruction : instructions(function)) {
      auto* access = dyn_cast<GetElementPtrInst>(&instruction);
      const auto* table = access != nullptr ? dyn_cast<GlobalVariable>(access->getPointerOperand()) : nullptr;
      if (table != nullptr && table->isConstant() && !access->hasAllConstantIndices()) {
        accesses.push_back(access);
      }
    }
  }
  const DataLayout& layout = module.getDataLayout();
  for (GetElementPtrInst* access : accesses) {
    // The first index steps over the source type, a second over its elements.
    const auto* table = cast<GlobalVariable>(access->getPointerOperand());
    Type* stepped = access->getSourceElementType();
    unsigned operand = 1;
    if (access->getNumIndices() > 1 && isa<ArrayType>(stepped) && isa<ConstantInt>(access->getOperand(1))) {
      stepped = stepped->getArrayElementType();
      operand = 2;
    }
    Value* index = access->getOperand(operand);
    if (isa<Constant>(index)) {
      continue;
    }
    const std::uint64_t count = layout.getTypeAllocSize(table->getValueType()) / layout.getTypeAllocSize(stepped);
    IRBuilder<> builder(access);
    access->setOperand(operand, builder.CreateBinaryIntrinsic(Intrinsic::umin, index, ConstantInt::get(index->getType(), count - 1)));
  }
}

/// Saturated conversions of NaN give 0 (OpenCL C 6.2.3.3); libclc gives one end of the range.
void convert_nan_to_zero(Module& module) {
  SmallVector<Function*> conversions;
  for (Function& function : module) {
    const StringRef name = function.getName();
    if (!function.isDeclaration() && name.contains("convert_") && name.contains("_sat") && name.starts_with("_Z") &&
        function.arg_size() == 1 && function.getArg(0)->getType()->isFPOrFPVectorTy() && function.getReturnType()->isIntOrIntVectorTy()) {
      conversions.push_back(&function);
    }
  }
  for (Function* inner : conversions) {
    Function* outer = Function::Create(inner->getFunctionType(), GlobalValue::ExternalLinkage, "", &module);
    outer->copyAttributesFrom(inner);
    outer->takeName(inner);
    inner->replaceAllUsesWith(outer);
    inner->setName(outer->getName() + ".of_number");
    inner->setLinkage(GlobalValue::InternalLinkage);
    IRBuilder<> builder(BasicBlock::Create(module.getContext(), "", outer));
    Value* number = builder.CreateFreeze(builder.CreateCall(inner, {outer->getArg(0)}));
    Value* is_nan = builder.CreateFCmpUNO(outer->getArg(0), outer->getArg(0));
    builder.CreateRet(builder.CreateSelect(is_nan, Constant::getNullValue(inner->getReturnType()), number));
  }
}

/// Our own version of f may call libclc's as libclc_f.
void keep_originals(Module& theirs, const Module& ours) {
  for (const Function& function : ours) {
    const std::size_t at = function.getName().find("libclc_");
    if (at == StringRef::npos || !function.isDeclaration()) {
      continue;
    }
    // "_Z10libclc_expf" is "_Z3expf".
    StringRef rest = function.getName().drop_front(at);
    unsigned length = 0;
    function.getName().drop_front(2).take_front(at - 2).getAsInteger(10, length);
    rest = rest.drop_front(StringRef("libclc_").size());
    const std::string original = ("_Z" + Twine(length - 7) + rest).str();
    if (Function* definition = theirs.getFunction(original)) {
      ValueToValueMapTy map;
      Function* copy = CloneFunction(definition, map);
      copy->setName(function.getName());
    }
  }
}

void clean_attributes(Module& module) {
  for (Function& function : module) {
    for (const char* old : {"target-features", "target-cpu", "frame-pointer", "stack-protector-buffer-size", "no-trapping-math"}) {
      function.removeFnAttr(old);
    }
    function.removeFnAttr(Attribute::NoInline);
    function.removeFnAttr(Attribute::OptimizeNone);
    function.setVisibility(GlobalValue::DefaultVisibility);
    function.setComdat(nullptr);
  }
}

std::unique_ptr<Module> read(const char* path, LLVMContext& context) {
  SMDiagnostic error;
  std::unique_ptr<Module> module = parseIRFile(path, error, context);
  if (module == nullptr) {
    error.print("kc-prepare-library", errs());
    return nullptr;
  }
  StripDebugInfo(*module);
  for (const char* list : {"llvm.ident", "opencl.ocl.version", "opencl.spir.version", "nvvm.annotations", "llvm.errno.tbaa"}) {
    if (NamedMDNode* node = module->getNamedMetadata(list)) {
      node->eraseFromParent();
    }
  }
  if (NamedMDNode* flags = module->getModuleFlagsMetadata()) {
    flags->eraseFromParent();
  }
  return module;
}

void drop_what_is_replaced(Module& theirs, const Module& ours) {
  for (Function& function : theirs) {
    if (farcl::kernel_compiler::is_lowered_later(function.getName()) && !function.isDeclaration()) {
      function.deleteBody();
      continue;
    }
    const Function* own = ours.getFunction(function.getName());
    if (own != nullptr && !own->isDeclaration() && own->hasExternalLinkage() && !function.isDeclaration()) {
      function.deleteBody();
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    errs() << "usage: kc-prepare-library OUTPUT OWN.bc LIBCLC.bc\n";
    return 2;
  }
  farcl::kernel_compiler::initialise_llvm();
  const auto machine = farcl::kernel_compiler::make_target_machine(true);
  LLVMContext context;
  std::unique_ptr<Module> ours = read(argv[2], context);
  std::unique_ptr<Module> theirs = read(argv[3], context);
  if (ours == nullptr || theirs == nullptr || machine == nullptr) {
    return 1;
  }
  rename_constant_pointers(*theirs);
  for (Module* module : {ours.get(), theirs.get()}) {
    farcl::kernel_compiler::adopt_host_conventions(*module, *machine);
    clean_attributes(*module);
  }
  clamp_table_indices(*theirs);
  convert_nan_to_zero(*theirs);
  keep_originals(*theirs, *ours);
  drop_what_is_replaced(*theirs, *ours);
  if (Linker::linkModules(*theirs, std::move(ours)) || verifyModule(*theirs, &errs())) {
    errs() << "kc-prepare-library: the library is not well-formed\n";
    return 1;
  }
  std::error_code error;
  raw_fd_ostream output(argv[1], error);
  if (error) {
    errs() << "kc-prepare-library: " << argv[1] << ": " << error.message() << '\n';
    return 1;
  }
  WriteBitcodeToFile(*theirs, output);
  return 0;
}
