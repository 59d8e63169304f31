#include "target.hpp"

#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <vector>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

struct Host {
  std::string triple = "x86_64-unknown-linux-gnu";
  std::string cpu = sys::getHostCPUName().str();
  std::string features;
  std::string description;

  Host() {
    std::vector<std::string> words;
    for (const auto& feature : sys::getHostCPUFeatures()) {
      words.push_back((feature.second ? "+" : "-") + feature.first().str());
    }
    std::sort(words.begin(), words.end());
    for (const std::string& word : words) {
      features += (features.empty() ? "" : ",") + word;
    }
    description = cpu + ";" + features;
  }
};

const Host& host() {
  static const Host value;
  return value;
}

} // namespace

void initialise_llvm() {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
}

std::unique_ptr<TargetMachine> make_target_machine(bool optimise) {
  std::string error;
  const Triple triple(host().triple);
  const Target* target = TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) {
    return nullptr;
  }
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Standard;
  options.UniqueSectionNames = false;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(triple, host().cpu, host().features, options, Reloc::PIC_,
                                                                    CodeModel::Small,
                                                                    optimise ? CodeGenOptLevel::Default : CodeGenOptLevel::None));
}

const std::string& host_description() { return host().description; }

void set_host_attributes(Module& module) {
  for (Function& function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    for (const char* old : {"target-features", "target-cpu", "tune-cpu", "frame-pointer", "stack-protector-buffer-size"}) {
      function.removeFnAttr(old);
    }
    function.addFnAttr("target-cpu", host().cpu);
    function.addFnAttr("target-features", host().features);
    function.addFnAttr(Attribute::NoUnwind);
  }
}

} // namespace farcl::kernel_compiler
