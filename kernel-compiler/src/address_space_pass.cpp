// The front end works for spir64, where __global, __constant, __local and generic pointers are types of their own. On a CPU
// they are all plain pointers, and the builtin library was made for a target that numbers them differently. So this pass
// rewrites a module to address space 0 throughout; what the rest of the compiler must still know (which variables are
// __local) it keeps as attributes.

#include "markers.hpp"
#include "passes.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

class FlatTypes : public ValueMapTypeRemapper {
public:
  Type* remapType(Type* type) override {
    auto [entry, is_new] = known_.try_emplace(type, type);
    if (!is_new) {
      return entry->second;
    }
    Type* flat = compute(type);
    return known_[type] = flat;
  }

private:
  Type* compute(Type* type) {
    if (auto* pointer = dyn_cast<PointerType>(type)) {
      return PointerType::get(pointer->getContext(), 0);
    }
    if (auto* array = dyn_cast<ArrayType>(type)) {
      return ArrayType::get(remapType(array->getElementType()), array->getNumElements());
    }
    if (auto* vector = dyn_cast<VectorType>(type)) {
      return VectorType::get(remapType(vector->getElementType()), vector->getElementCount());
    }
    if (auto* function = dyn_cast<FunctionType>(type)) {
      SmallVector<Type*> parameters;
      for (Type* parameter : function->params()) {
        parameters.push_back(remapType(parameter));
      }
      return FunctionType::get(remapType(function->getReturnType()), parameters, function->isVarArg());
    }
    if (auto* structure = dyn_cast<StructType>(type)) {
      return compute_struct(structure);
    }
    // An event_t is a pointer for the builtin library; images, pipes and the like are refused later.
    if (auto* target = dyn_cast<TargetExtType>(type); target != nullptr && target->getName() == "spirv.Event") {
      return PointerType::get(type->getContext(), 0);
    }
    return type;
  }

  Type* compute_struct(StructType* structure) {
    if (structure->isOpaque()) {
      return structure;
    }
    SmallVector<Type*> elements;
    bool changed = false;
    for (Type* element : structure->elements()) {
      elements.push_back(remapType(element));
      changed |= elements.back() != element;
    }
    if (!changed) {
      return structure;
    }
    if (structure->isLiteral()) {
      return StructType::get(structure->getContext(), elements, structure->isPacked());
    }
    return StructType::create(structure->getContext(), elements, structure->getName(), structure->isPacked());
  }

  DenseMap<Type*, Type*> known_;
};

class Flattener {
public:
  explicit Flattener(Module& module) : module_(module) {}

  void run() {
    casts_become_instructions();
    make_globals();
    make_functions();
    for (auto [from, to] : globals_) {
      if (from->hasInitializer()) {
        to->setInitializer(MapValue(from->getInitializer(), map_, kFlags, &types_));
      }
    }
    for (Function& function : module_) {
      if (!function.isDeclaration()) {
        RemapFunction(function, map_, kFlags, &types_);
      }
    }
    remove_old();
    remove_casts();
    fix_intrinsics();
  }

private:
  const RemapFlags kFlags = RF_IgnoreMissingLocals | RF_ReuseAndMutateDistinctMDs;

  /// A cast between two equal types cannot be written as a constant, so casts leave the constants first.
  void casts_become_instructions() {
    SmallVector<Constant*> globals;
    for (GlobalVariable& variable : module_.globals()) {
      if (variable.getAddressSpace() != 0) {
        globals.push_back(&variable);
      }
    }
    convertUsersOfConstantsToInstructions(globals, nullptr, false);
    for (Function& function : module_) {
      for (Instruction& instruction : instructions(function)) {
        for (Use& use : instruction.operands()) {
          replace_null_cast(use);
        }
      }
    }
  }

  /// addrspacecast (ptr null) and the like: a null of the wanted type.
  static void replace_null_cast(Use& use) {
    auto* expression = dyn_cast<ConstantExpr>(use.get());
    if (expression != nullptr && expression->getOpcode() == Instruction::AddrSpaceCast && expression->getOperand(0)->isNullValue()) {
      use.set(Constant::getNullValue(expression->getType()));
    }
  }

  void make_globals() {
    SmallVector<GlobalVariable*> all;
    for (GlobalVariable& variable : module_.globals()) {
      all.push_back(&variable);
    }
    for (GlobalVariable* from : all) {
      Type* type = types_.remapType(from->getValueType());
      if (from->getAddressSpace() == kLocalAddressSpace) {
        from->addAttribute(kLocalAttribute);
      }
      if (from->getAddressSpace() == 0 && type == from->getValueType()) {
        continue;
      }
      auto* to =
          new GlobalVariable(module_, type, from->isConstant(), from->getLinkage(), nullptr, "", from, GlobalValue::NotThreadLocal, 0);
      to->copyAttributesFrom(from);
      to->takeName(from);
      map_[from] = to;
      globals_.push_back({from, to});
    }
  }

  void make_functions() {
    SmallVector<Function*> all;
    for (Function& function : module_) {
      all.push_back(&function);
    }
    for (Function* from : all) {
      auto* type = cast<FunctionType>(types_.remapType(from->getFunctionType()));
      if (type == from->getFunctionType()) {
        continue;
      }
      Function* to = Function::Create(type, from->getLinkage(), 0, "", nullptr);
      module_.getFunctionList().insert(from->getIterator(), to);
      to->copyAttributesFrom(from);
      to->copyMetadata(from, 0);
      // Unlike takeName, setName notices the name of an intrinsic.
      const std::string name = from->getName().str();
      from->setName("");
      to->setName(name);
      flatten_attribute_types(*to);
      to->splice(to->begin(), from);
      for (auto [old_argument, new_argument] : zip(from->args(), to->args())) {
        new_argument.takeName(&old_argument);
        map_[&old_argument] = &new_argument;
      }
      map_[from] = to;
      functions_.push_back(from);
    }
  }

  /// byval, sret and the like name the type that their pointer points to.
  void flatten_attribute_types(Function& function) {
    for (Argument& argument : function.args()) {
      for (Attribute attribute : function.getAttributes().getParamAttrs(argument.getArgNo())) {
        if (attribute.isTypeAttribute() && attribute.getValueAsType() != nullptr) {
          function.addParamAttr(argument.getArgNo(), Attribute::get(function.getContext(), attribute.getKindAsEnum(),
                                                                    types_.remapType(attribute.getValueAsType())));
        }
      }
    }
  }

  void remove_old() {
    for (Function* function : functions_) {
      function->replaceAllUsesWith(PoisonValue::get(function->getType()));
      function->eraseFromParent();
    }
    for (auto [from, to] : globals_) {
      from->setInitializer(nullptr);
    }
    for (auto [from, to] : globals_) {
      from->replaceAllUsesWith(PoisonValue::get(from->getType()));
      from->eraseFromParent();
    }
  }

  void remove_casts() {
    for (Function& function : module_) {
      for (Instruction& instruction : make_early_inc_range(instructions(function))) {
        if (isa<AddrSpaceCastInst>(instruction)) {
          instruction.replaceAllUsesWith(instruction.getOperand(0));
          instruction.eraseFromParent();
        }
      }
    }
  }

  /// Intrinsics carry their types in their names.
  void fix_intrinsics() {
    for (Function& function : make_early_inc_range(module_)) {
      if (!function.isIntrinsic()) {
        continue;
      }
      if (std::optional<Function*> right = Intrinsic::remangleIntrinsicFunction(&function)) {
        function.replaceAllUsesWith(*right);
        function.eraseFromParent();
      }
    }
  }

  Module& module_;
  FlatTypes types_;
  ValueToValueMapTy map_;
  SmallVector<std::pair<GlobalVariable*, GlobalVariable*>> globals_;
  SmallVector<Function*> functions_;
};

} // namespace

PreservedAnalyses FlattenAddressSpacesPass::run(Module& module, ModuleAnalysisManager&) {
  Flattener(module).run();
  return PreservedAnalyses::none();
}

} // namespace farcl::kernel_compiler
