#include "object.hpp"

#include <lld/Common/Driver.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include <array>
#include <cerrno>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

Result<UniqueFd> memory_file(StringRef content) {
  UniqueFd file(::memfd_create("farcl-object", MFD_CLOEXEC));
  if (!file) {
    return fail_errno(errno, "memfd_create");
  }
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno != EINTR) {
      return fail_errno(errno, "writing the object");
    }
    content = content.drop_front(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return file;
}

} // namespace

SmallVector<char, 0> write_object(Module& module, TargetMachine& machine) {
  SmallVector<char, 0> object;
  raw_svector_ostream stream(object);
  legacy::PassManager passes;
  if (!machine.addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile)) {
    passes.run(module);
  }
  return object;
}

Status write_shared_object(Module& module, TargetMachine& machine, int output) {
  const SmallVector<char, 0> object = write_object(module, machine);
  if (object.empty()) {
    return fail(ErrorCode::kInternal, "this LLVM cannot write object files for the host");
  }
  auto input = memory_file(StringRef(object.data(), object.size()));
  if (!input) {
    return pass_on(std::move(input));
  }
  // lld writes regular files by rename, which a memory file cannot do, but standard output as it is.
  if (::dup2(output, STDOUT_FILENO) < 0) {
    return fail_errno(errno, "dup2");
  }
  const std::string path = "/proc/self/fd/" + std::to_string(input->get());
  const std::array<const char*, 12> arguments = {"ld.lld",     "-shared",         "-z",          "now", "-z", "noexecstack",
                                                 "-Bsymbolic", "--build-id=none", "--threads=1", "-o",  "-",  path.c_str()};
  std::string errors;
  raw_string_ostream error_stream(errors);
  if (!lld::elf::link(arguments, outs(), error_stream, false, false)) {
    return fail(ErrorCode::kInternal, "linking the kernels failed: " + errors);
  }
  outs().flush();
  return {};
}

} // namespace farcl::kernel_compiler
