#include "compiler.hpp"

#include "binary.hpp"
#include "failure.hpp"
#include "lowering.hpp"
#include "object.hpp"
#include "options.hpp"
#include "target.hpp"

#include "farcl/kernel_compiler/kernel_abi.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

#ifndef FARCL_BUILTIN_LIBRARY_PATHS
#error "the build must say where the builtin library may lie, relative to the program"
#endif

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

/// A rebuilt library must not answer from an old cache entry.
std::string describe_file(const std::string& path) {
  struct stat status{};
  ::stat(path.c_str(), &status);
  return std::to_string(status.st_size) + "@" + std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

CompileStatus options_fault(Stage stage) {
  switch (stage) {
  case Stage::kBuild: return CompileStatus::kInvalidBuildOptions;
  case Stage::kCompile: return CompileStatus::kInvalidCompilerOptions;
  case Stage::kLink: return CompileStatus::kInvalidLinkerOptions;
  }
  return CompileStatus::kInvalidBuildOptions;
}

void add_to_log(CompileReplyData& reply, const std::string& text) {
  reply.log += text;
  if (!text.empty() && text.back() != '\n') {
    reply.log += '\n';
  }
}

void cut_log(std::string& log) {
  constexpr const char* kCut = "\n(the log is cut here)\n";
  if (log.size() > kMaxLogBytes) {
    log.resize(kMaxLogBytes - std::string_view(kCut).size());
    log += kCut;
  }
}

/// `inline` of C99 gives no definition elsewhere; every program here is whole.
void keep_inline_definitions(Module& module) {
  for (Function& function : module) {
    if (function.hasAvailableExternallyLinkage()) {
      function.setLinkage(GlobalValue::LinkOnceODRLinkage);
    }
  }
}

} // namespace

std::string find_builtin_library() {
  if (const char* path = std::getenv("FARCL_BUILTIN_LIBRARY"); path != nullptr && *path != 0) {
    return path;
  }
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const char* relative : {FARCL_BUILTIN_LIBRARY_PATHS}) {
    const std::filesystem::path candidate = program.parent_path() / relative;
    if (std::filesystem::exists(candidate, error)) {
      return candidate.lexically_normal().string();
    }
  }
  return (program.parent_path() / "../share/farcl/builtins.bc").lexically_normal().string();
}

Compiler::Compiler(FrontEnd front_end, std::unique_ptr<LLVMContext> context, BuiltinLibrary library)
    : front_end_(std::move(front_end)), context_(std::move(context)), library_(std::move(library)) {
  identity_ = "farcl-kc abi " + std::to_string(FARCL_KERNEL_ABI_VERSION) + " llvm " LLVM_VERSION_STRING " library " +
              describe_file(library_.path()) + " program " + describe_file("/proc/self/exe") + " cpu " + host_description();
}

Result<std::unique_ptr<Compiler>> Compiler::create(const std::string& library_path) {
  initialise_llvm();
  auto front_end = FrontEnd::create();
  if (!front_end) {
    return pass_on(std::move(front_end));
  }
  auto context = std::make_unique<LLVMContext>();
  // Names of values are a tenth of the compile time and no use to anybody but a reader of the IR.
  context->setDiscardValueNames(true);
  auto library = BuiltinLibrary::open(library_path, *context);
  if (!library) {
    return pass_on(std::move(library));
  }
  return std::unique_ptr<Compiler>(new Compiler(std::move(*front_end), std::move(context), std::move(*library)));
}

void Compiler::warm_up() {
  CompileRequest request;
  request.source = "kernel void k(global float4* a, local int* b) { size_t i = get_global_id(0); barrier(CLK_LOCAL_MEM_FENCE); "
                   "a[i] = sin(a[i]) + convert_float4(vload4(i, b)); } kernel void l(global float* a) { a[get_global_id(0)] += 1; }";
  // Everything but lld, up to an object file in memory. In the context of the later builds, whose tables grow by that.
  std::string log;
  const Options options = parse_options("", Stage::kBuild);
  std::unique_ptr<Module> module = front_end_.run(request, options, *context_, log);
  const std::unique_ptr<TargetMachine> machine = make_target_machine(true);
  ProgramInfo info;
  if (module != nullptr && machine != nullptr && lower(*module, library_, *machine, {}, info)) {
    (void)write_object(*module, *machine);
  }
}

CompileReplyData Compiler::compile(const CompileRequest& request, int output, bool may_optimise) {
  context_->setDiscardValueNames(ir_path.empty());
  CompileReplyData reply;
  const Options options = parse_options(request.options, request.stage);
  if (!options.fault.empty()) {
    reply.status = options_fault(request.stage);
    add_to_log(reply, "error: " + options.fault);
    return reply;
  }
  Input input = read_input(request, options, reply);
  if (input.module == nullptr) {
    cut_log(reply.log);
    return reply;
  }
  reply.binary = write_binary(*input.module, input.options);
  if (request.stage == Stage::kCompile || options.create_library) {
    reply.status = CompileStatus::kOk;
  } else {
    finish(std::move(input), output, may_optimise, reply);
  }
  cut_log(reply.log);
  return reply;
}

Compiler::Input Compiler::read_input(const CompileRequest& request, const Options& options, CompileReplyData& reply) {
  if (!request.inputs.empty()) {
    return link_inputs(request, reply);
  }
  Input input;
  input.options = {options.optimise, options.uniform_work_groups};
  input.module = front_end_.run(request, options, *context_, reply.log);
  if (input.module != nullptr) {
    keep_inline_definitions(*input.module);
  }
  return input;
}

Compiler::Input Compiler::link_inputs(const CompileRequest& request, CompileReplyData& reply) {
  Input result;
  FailureCollector failures(*context_);
  for (const Binary& binary : request.inputs) {
    auto loaded = read_binary(binary.bytes, *context_);
    if (!loaded) {
      reply.status = CompileStatus::kInvalidBinary;
      add_to_log(reply, "error: " + loaded.error().message);
      return {};
    }
    if (result.module == nullptr) {
      result = {std::move(loaded->module), loaded->options};
      continue;
    }
    result.options.optimise &= loaded->options.optimise;
    result.options.uniform_work_groups &= loaded->options.uniform_work_groups;
    if (Linker::linkModules(*result.module, std::move(loaded->module))) {
      add_to_log(reply, failures.errors().empty() ? "error: the programs cannot be linked" : failures.errors());
      return {};
    }
  }
  return result;
}

void Compiler::finish(Input input, int output, bool may_optimise, CompileReplyData& reply) {
  input.options.optimise &= may_optimise;
  const std::unique_ptr<TargetMachine> machine = make_target_machine(input.options.optimise);
  if (machine == nullptr) {
    add_to_log(reply, "error: this LLVM cannot compile for the host");
    return;
  }
  ProgramInfo info;
  if (auto lowered = lower(*input.module, library_, *machine, input.options, info); !lowered) {
    add_to_log(reply, lowered.error().message);
    return;
  }
  if (!ir_path.empty()) {
    std::error_code error;
    raw_fd_ostream text(ir_path, error);
    input.module->print(text, nullptr);
  }
  if (auto written = write_shared_object(*input.module, *machine, output); !written) {
    add_to_log(reply, "error: " + written.error().message);
    return;
  }
  reply.status = CompileStatus::kOk;
  reply.info = std::move(info);
  reply.has_shared_object = true;
}

} // namespace farcl::kernel_compiler
