#include "lowering.hpp"

#include "failure.hpp"
#include "kernel_facts.hpp"
#include "markers.hpp"
#include "passes.hpp"
#include "target.hpp"

#include "farcl/kernel_compiler/kernel_abi.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/StandardInstrumentations.h>
#include <llvm/Transforms/Coroutines/CoroCleanup.h>
#include <llvm/Transforms/Coroutines/CoroEarly.h>
#include <llvm/Transforms/Coroutines/CoroSplit.h>
#include <llvm/Transforms/Coroutines/MaterializationUtils.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

void refuse_module_features(Module& module) {
  LLVMContext& context = module.getContext();
  if (!module.getModuleInlineAsm().empty()) {
    refuse(context, "the program has inline assembly");
  }
  if (!module.alias_empty() || !module.ifunc_empty()) {
    refuse(context, "the program has function aliases");
  }
  for (const char* list : {"llvm.global_ctors", "llvm.global_dtors"}) {
    if (module.getGlobalVariable(list, true) != nullptr) {
      refuse(context, "the program has constructors or destructors");
    }
  }
  for (const char* list : {"llvm.used", "llvm.compiler.used"}) {
    if (GlobalVariable* variable = module.getGlobalVariable(list, true)) {
      variable->eraseFromParent();
    }
  }
}

void make_private(GlobalObject& object) {
  object.setSection("");
  object.setComdat(nullptr);
  object.setLinkage(GlobalValue::InternalLinkage);
  object.setVisibility(GlobalValue::DefaultVisibility);
  object.setDSOLocal(true);
  object.setName(kUserPrefix + object.getName());
}

/// Read by LoadedProgram before it trusts the object.
void add_version(Module& module) {
  auto* type = Type::getInt32Ty(module.getContext());
  auto* version = new GlobalVariable(module, type, true, GlobalValue::ExternalLinkage, ConstantInt::get(type, FARCL_KERNEL_ABI_VERSION),
                                     kVersionVariable);
  version->setAlignment(Align(4));
}

/// Passes and their analyses in one place; each run() is one pass manager.
class Passes {
public:
  Passes(TargetMachine& machine, bool optimise)
      : level_(optimise ? OptimizationLevel::O2 : OptimizationLevel::O0), builder_(&machine, tuning(optimise)) {
    functions_.registerPass([&machine] { return TargetLibraryAnalysis(TargetLibraryInfoImpl(machine.getTargetTriple())); });
    builder_.registerModuleAnalyses(modules_);
    builder_.registerCGSCCAnalyses(sccs_);
    builder_.registerFunctionAnalyses(functions_);
    builder_.registerLoopAnalyses(loops_);
    builder_.crossRegisterProxies(loops_, functions_, sccs_, modules_);
  }

  [[nodiscard]] bool optimises() const { return level_ != OptimizationLevel::O0; }
  FunctionPassManager simplification() { return builder_.buildFunctionSimplificationPipeline(level_, ThinOrFullLTOPhase::None); }
  ModulePassManager final_optimisation() { return builder_.buildModuleOptimizationPipeline(level_, ThinOrFullLTOPhase::None); }
  void run(ModulePassManager& manager, Module& module) { manager.run(module, modules_); }

private:
  static PipelineTuningOptions tuning(bool optimise) {
    PipelineTuningOptions options;
    options.LoopVectorization = options.SLPVectorization = options.LoopInterleaving = options.LoopUnrolling = optimise;
    return options;
  }

  OptimizationLevel level_;
  LoopAnalysisManager loops_;
  FunctionAnalysisManager functions_;
  CGSCCAnalysisManager sccs_;
  ModuleAnalysisManager modules_;
  PassBuilder builder_;
};

ModulePassManager bodies_pipeline(Passes& passes) {
  ModulePassManager manager;
  manager.addPass(InlinePass());
  manager.addPass(AlwaysInlinerPass(false));
  manager.addPass(GlobalDCEPass());
  manager.addPass(LocalMemoryPass());
  manager.addPass(WorkItemPass());
  if (passes.optimises()) {
    manager.addPass(createModuleToFunctionPassAdaptor(passes.simplification()));
  }
  return manager;
}

/// Loads of the launch and the group are cheaper to repeat behind a barrier than to keep in the frame.
bool is_cheaper_to_repeat(Instruction& instruction) {
  return coro::isTriviallyMaterializable(instruction) ||
         (isa<LoadInst>(instruction) && instruction.hasMetadata(LLVMContext::MD_invariant_load));
}

ModulePassManager entries_pipeline(Passes& passes) {
  ModulePassManager manager;
  manager.addPass(CoroutinePass());
  manager.addPass(CoroEarlyPass());
  manager.addPass(createModuleToPostOrderCGSCCPassAdaptor(CoroSplitPass(is_cheaper_to_repeat, passes.optimises())));
  manager.addPass(CoroCleanupPass());
  manager.addPass(EntryPass());
  manager.addPass(AlwaysInlinerPass(false));
  manager.addPass(GlobalDCEPass());
  if (passes.optimises()) {
    FunctionPassManager functions;
    functions.addPass(SROAPass(SROAOptions::ModifyCFG));
    functions.addPass(EarlyCSEPass(true));
    functions.addPass(InstCombinePass());
    functions.addPass(SimplifyCFGPass());
    functions.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
    functions.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass(), false));
    manager.addPass(createModuleToFunctionPassAdaptor(std::move(functions)));
    manager.addPass(passes.final_optimisation());
  }
  return manager;
}

Status failure_of(const FailureCollector& failures) {
  return failures.errors().empty() ? Status() : Status(fail(ErrorCode::kInvalid, failures.errors()));
}

} // namespace

void claim_definitions(Module& module, const LoweringOptions& options) {
  for (Function& function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    function.removeFnAttr(Attribute::Naked);
    if (function.getCallingConv() != CallingConv::SPIR_KERNEL) {
      make_private(function);
      continue;
    }
    function.addFnAttr(kKernelAttribute, function.getName());
    if (options.uniform_work_groups) {
      function.addFnAttr(kUniformAttribute);
    }
    make_private(function);
    // Nobody calls a kernel or its body before EntryPass has made the function that does.
    function.setLinkage(GlobalValue::ExternalLinkage);
    function.setVisibility(GlobalValue::HiddenVisibility);
  }
  for (GlobalVariable& variable : module.globals()) {
    if (!variable.isDeclaration()) {
      make_private(variable);
    }
  }
}

void adopt_host_conventions(Module& module, TargetMachine& machine) {
  for (Function& function : module) {
    if (!function.isIntrinsic()) {
      function.setCallingConv(CallingConv::C);
    }
    for (Instruction& instruction : instructions(function)) {
      if (auto* call = dyn_cast<CallBase>(&instruction)) {
        call->setCallingConv(CallingConv::C);
      }
    }
  }
  ModuleAnalysisManager unused;
  FlattenAddressSpacesPass().run(module, unused);
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
}

Status lower(Module& module, BuiltinLibrary& library, TargetMachine& machine, const LoweringOptions& options, ProgramInfo& info) {
  FailureCollector failures(module.getContext());
  info = describe_kernels(module);
  refuse_module_features(module);
  claim_definitions(module, options);
  adopt_host_conventions(module, machine);
  if (auto linked = library.link_into(module); !linked) {
    return fail(ErrorCode::kInvalid, "error: " + linked.error().message + "\n");
  }
  set_host_attributes(module);

  Passes passes(machine, options.optimise);
  ModulePassManager checks;
  checks.addPass(NoPoisonPass());
  checks.addPass(SafeDivisionPass());
  checks.addPass(CheckSourcePass());
  passes.run(checks, module);
  if (auto checked = failure_of(failures); !checked) {
    return checked;
  }
  ModulePassManager bodies = bodies_pipeline(passes);
  passes.run(bodies, module);
  if (auto lowered = failure_of(failures); !lowered) {
    return lowered;
  }
  measure_bodies(module, info);
  for (const KernelInfo& kernel : info.kernels) {
    if (kernel.private_bytes > kMaxPrivateBytes) {
      return fail(ErrorCode::kInvalid, "error: kernel '" + kernel.name + "' needs " + std::to_string(kernel.private_bytes) +
                                           " bytes of private memory; at most " + std::to_string(kMaxPrivateBytes) + " are available\n");
    }
  }
  ModulePassManager entries = entries_pipeline(passes);
  passes.run(entries, module);
  measure_entries(module, info);
  add_version(module);
  return failure_of(failures);
}

} // namespace farcl::kernel_compiler
