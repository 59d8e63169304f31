// Runs single passes of the compiler over IR text, for the tests of the passes: what LLVM's opt does for LLVM's.
//
//   kc-opt [-host] PASS[,PASS...] FILE.ll
//
// -host first turns a module of the spir64 front end into one for the host, as the compiler does before its passes. Passes of
// LLVM may be named as well, in opt's syntax.

#include "../src/failure.hpp"
#include "../src/lowering.hpp"
#include "../src/passes.hpp"
#include "../src/target.hpp"

#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

using namespace llvm;
namespace kc = farcl::kernel_compiler;

namespace {

bool add_own_pass(StringRef name, ModulePassManager& manager) {
#define FARCL_MODULE_PASS(NAME, CLASS, SUMMARY) \
  if (name == NAME) {                           \
    manager.addPass(kc::CLASS());               \
    return true;                                \
  }
#include "../src/passes.def"
#undef FARCL_MODULE_PASS
  return false;
}

int run(bool for_host, StringRef passes, const char* path) {
  LLVMContext context;
  SMDiagnostic error;
  std::unique_ptr<Module> module = parseIRFile(path, error, context);
  if (module == nullptr) {
    error.print("kc-opt", errs());
    return 1;
  }
  kc::initialise_llvm();
  const auto machine = kc::make_target_machine(true);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder builder(machine.get());
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager& manager, ArrayRef<PassBuilder::PipelineElement>) { return add_own_pass(name, manager); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  ModulePassManager manager;
  if (llvm::Error fault = builder.parsePassPipeline(manager, passes)) {
    errs() << "kc-opt: " << toString(std::move(fault)) << '\n';
    return 2;
  }
  kc::FailureCollector failures(context);
  if (for_host) {
    kc::claim_definitions(*module, {});
    kc::adopt_host_conventions(*module, *machine);
  }
  manager.run(*module, modules);
  if (verifyModule(*module, &errs())) {
    return 1;
  }
  outs() << *module << failures.errors();
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const bool for_host = argc > 1 && StringRef(argv[1]) == "-host";
  if (argc != (for_host ? 4 : 3)) {
    errs() << "usage: kc-opt [-host] PASS[,PASS...] FILE.ll\n";
    return 2;
  }
  return run(for_host, argv[argc - 2], argv[argc - 1]);
}
