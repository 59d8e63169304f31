#include "library.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>

#include <set>

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

void use_private_versions(Module& program, const Module& library) {
  for (Function& function : make_early_inc_range(program)) {
    if (!function.isDeclaration() || !function.getName().contains("U3AS4") || library.getFunction(function.getName()) != nullptr) {
      continue;
    }
    const std::string name = private_name(function.getName());
    const Function* definition = library.getFunction(name);
    if (definition == nullptr || definition->getFunctionType() != function.getFunctionType()) {
      continue;
    }
    if (Function* existing = program.getFunction(name)) {
      function.replaceAllUsesWith(existing);
      function.eraseFromParent();
    } else {
      function.setName(name);
    }
  }
}

/// A program that declares a builtin with another type than the library's must not be linked to it.
bool types_agree(Module& program, const Module& library, std::string& fault) {
  for (const Function& function : program) {
    const Function* definition = function.isDeclaration() ? library.getFunction(function.getName()) : nullptr;
    if (definition != nullptr && definition->getFunctionType() != function.getFunctionType()) {
      fault = function.getName().str();
      return false;
    }
  }
  return true;
}

} // namespace

Result<BuiltinLibrary> BuiltinLibrary::open(const std::string& path, LLVMContext& context) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer) {
    return fail(ErrorCode::kSystem, "cannot read the builtin library " + path + ": " + buffer.getError().message());
  }
  Expected<std::unique_ptr<Module>> module = getOwningLazyBitcodeModule(std::move(*buffer), context, true);
  if (!module) {
    return fail(ErrorCode::kInvalid, "the builtin library " + path + " is damaged: " + toString(module.takeError()));
  }
  BuiltinLibrary library;
  library.module_ = std::move(*module);
  library.path_ = path;
  return library;
}

Status BuiltinLibrary::link_into(Module& program) {
  FARCL_ASSERT(module_ != nullptr);
  use_private_versions(program, *module_);
  std::string fault;
  if (!types_agree(program, *module_, fault)) {
    return fail(ErrorCode::kInvalid, "function '" + fault + "' is declared with another type than OpenCL C gives it");
  }
  std::set<std::string> own;
  for (const Function& function : program) {
    if (!function.isDeclaration() && function.hasExternalLinkage()) {
      own.insert(function.getName().str());
    }
  }
  module_->setDataLayout(program.getDataLayout());
  module_->setTargetTriple(program.getTargetTriple());
  if (Linker::linkModules(program, std::move(module_), Linker::LinkOnlyNeeded)) {
    return fail(ErrorCode::kInternal, "linking the builtin library failed");
  }
  for (Function& function : program) {
    if (!function.isDeclaration() && own.count(function.getName().str()) == 0) {
      function.setLinkage(GlobalValue::InternalLinkage);
    }
  }
  for (GlobalVariable& variable : program.globals()) {
    if (!variable.isDeclaration()) {
      variable.setLinkage(GlobalValue::InternalLinkage);
    }
  }
  return {};
}

} // namespace farcl::kernel_compiler
