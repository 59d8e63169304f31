// The machine that kernels are compiled for: this one, with all its instruction sets.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace farcl::kernel_compiler {

/// Registers LLVM's x86 parts; call once per process, before anything else here.
void initialise_llvm();
std::unique_ptr<llvm::TargetMachine> make_target_machine(bool optimise);
/// CPU name and features: part of every cache key.
[[nodiscard]] const std::string& host_description();
/// Gives every function of the module the host's CPU and features, and drops what other targets left.
void set_host_attributes(llvm::Module& module);

} // namespace farcl::kernel_compiler
