#include "front_end.hpp"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>

#ifndef FARCL_CLANG_RESOURCE_DIR
#error "the build must say where clang keeps its headers"
#endif

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

// Folders of the in-memory file system. The source lies alone in its folder, so that only headers of the request are found.
constexpr const char* kSourceFolder = "/farcl/source";
constexpr const char* kSystemFolder = "/farcl/system";
constexpr const char* kBaseHeaderName = "opencl-c-base.h";

/// OpenCL 3.0; the language version is clang's own macro.
constexpr const char* kDeviceVersion = "-D__OPENCL_VERSION__=300";

/// Language extensions that the CPU device has; -cl-ext=-all turns everything else off.
constexpr const char* kExtensions =
    "-cl-ext=-all,+cl_khr_fp64,+cl_khr_byte_addressable_store,+cl_khr_global_int32_base_atomics,"
    "+cl_khr_global_int32_extended_atomics,+cl_khr_local_int32_base_atomics,+cl_khr_local_int32_extended_atomics,"
    "+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,+__opencl_c_int64,+__opencl_c_fp64";

IntrusiveRefCntPtr<vfs::InMemoryFileSystem> make_file_system(const CompileRequest& request, const std::string& base_header) {
  auto files = makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  files->setCurrentWorkingDirectory(kSourceFolder);
  const auto add = [&](const std::string& path, StringRef text) { files->addFile(path, 0, MemoryBuffer::getMemBufferCopy(text, path)); };
  add(std::string(kSourceFolder) + "/" + kSourceName, request.source);
  add(std::string(kSystemFolder) + "/" + kBaseHeaderName, base_header);
  for (const Header& header : request.headers) {
    const bool absolute = !header.path.empty() && header.path.front() == '/';
    add(absolute ? header.path : std::string(kSourceFolder) + "/" + header.path, header.text);
  }
  return files;
}

std::vector<std::string> make_arguments(const Options& options) {
  std::vector<std::string> arguments = {"-triple",
                                        "spir64",
                                        "-x",
                                        "cl",
                                        "-cl-std=" + options.language_standard,
                                        "-O2",
                                        "-disable-llvm-passes",
                                        "-emit-llvm-only",
                                        "-cl-kernel-arg-info",
                                        "-fdeclare-opencl-builtins",
                                        "-finclude-default-header",
                                        "-internal-isystem",
                                        kSystemFolder,
                                        "-nostdsysteminc",
                                        "-fbracket-depth",
                                        "256",
                                        "-ferror-limit",
                                        "100",
                                        "-D__ENDIAN_LITTLE__=1",
                                        kDeviceVersion,
                                        "-U__IMAGE_SUPPORT__",
                                        kExtensions};
  for (const std::string& folder : options.include_folders) {
    arguments.insert(arguments.end(), {"-I", folder});
  }
  arguments.insert(arguments.end(), {"-I", "."});
  arguments.insert(arguments.end(), options.clang_arguments.begin(), options.clang_arguments.end());
  arguments.push_back(kSourceName);
  return arguments;
}

} // namespace

Result<FrontEnd> FrontEnd::create() {
  const std::string path = std::string(FARCL_CLANG_RESOURCE_DIR) + "/include/" + kBaseHeaderName;
  auto text = MemoryBuffer::getFile(path);
  if (!text) {
    return fail(ErrorCode::kSystem, "cannot read clang's header " + path + ": " + text.getError().message());
  }
  FrontEnd front_end;
  front_end.base_header_ = (*text)->getBuffer().str();
  return front_end;
}

std::unique_ptr<Module> FrontEnd::run(const CompileRequest& request, const Options& options, LLVMContext& context, std::string& log) const {
  raw_string_ostream log_stream(log);
  const std::vector<std::string> arguments = make_arguments(options);
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(argument.c_str());
  }

  clang::DiagnosticOptions diagnostic_options;
  clang::TextDiagnosticPrinter printer(log_stream, diagnostic_options);
  IntrusiveRefCntPtr<vfs::FileSystem> files = make_file_system(request, base_header_);
  auto diagnostics = clang::CompilerInstance::createDiagnostics(*files, diagnostic_options, &printer, false);

  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *diagnostics)) {
    return nullptr;
  }
  invocation->getDiagnosticOpts().ShowColors = false;
  clang::CompilerInstance compiler(invocation);
  compiler.setVirtualFileSystem(files);
  clang::TextDiagnosticPrinter compile_printer(log_stream, invocation->getDiagnosticOpts());
  compiler.createDiagnostics(&compile_printer, false);
  compiler.setVerboseOutputStream(log_stream);

  clang::EmitLLVMOnlyAction action(&context);
  const bool succeeded = compiler.ExecuteAction(action);
  std::unique_ptr<Module> module = action.takeModule();
  return succeeded ? std::move(module) : nullptr;
}

} // namespace farcl::kernel_compiler
