#include "command_line.hpp"

#include "compiler.hpp"
#include "text_report.hpp"

#include "farcl/base/unique_fd.hpp"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>

namespace farcl::kernel_compiler {
namespace {

constexpr int kExitUsage = 2;

constexpr const char* kUsage =
    "usage: farcl-kc --compile FILE.cl [-o FILE.so] [--emit-llvm FILE.ll] [--dump-info] [-- BUILD OPTIONS]\n";

struct Arguments {
  std::string source_path;
  std::string output_path;
  std::string ir_path;
  std::string build_options;
  bool dump_info = false;
};

std::string quote(std::string_view word) {
  std::string quoted = "\"";
  for (const char c : word) {
    quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return quoted + "\"";
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  int i = 1;
  for (; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view word = argv[i];
    std::string* value = word == "--compile"     ? &arguments.source_path
                         : word == "-o"          ? &arguments.output_path
                         : word == "--emit-llvm" ? &arguments.ir_path
                                                 : nullptr;
    if (word == "--dump-info") {
      arguments.dump_info = true;
    } else if (value != nullptr && i + 1 < argc) {
      *value = argv[++i];
    } else {
      return std::nullopt;
    }
  }
  for (++i; i < argc; ++i) {
    arguments.build_options += quote(argv[i]) + " ";
  }
  return arguments.source_path.empty() ? std::nullopt : std::optional(arguments);
}

bool copy_to(int from, const std::string& path) {
  const UniqueFd to(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755));
  struct stat status {};
  if (!to || ::fstat(from, &status) != 0) {
    return false;
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  const auto size = static_cast<ssize_t>(bytes.size());
  return ::pread(from, bytes.data(), bytes.size(), 0) == size && ::write(to.get(), bytes.data(), bytes.size()) == size;
}

int compile_file(const Arguments& arguments) {
  std::ifstream file(arguments.source_path, std::ios::binary);
  if (!file) {
    std::cerr << "farcl-kc: cannot read " << arguments.source_path << '\n';
    return 1;
  }
  CompileRequest request;
  request.source.assign(std::istreambuf_iterator<char>(file), {});
  request.options = arguments.build_options;
  auto compiler = Compiler::create(find_builtin_library());
  if (!compiler) {
    std::cerr << "farcl-kc: " << compiler.error().message << '\n';
    return 1;
  }
  (*compiler)->ir_path = arguments.ir_path;
  const UniqueFd output(::memfd_create("farcl-kernels", MFD_CLOEXEC));
  const UniqueFd standard_output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const CompileReplyData reply = (*compiler)->compile(request, output.get(), true);
  ::dup2(standard_output.get(), STDOUT_FILENO);
  std::cerr << reply.log;
  if (reply.status != CompileStatus::kOk) {
    return 1;
  }
  if (!arguments.output_path.empty() && !copy_to(output.get(), arguments.output_path)) {
    std::cerr << "farcl-kc: cannot write " << arguments.output_path << '\n';
    return 1;
  }
  if (arguments.dump_info) {
    std::cout << text_report(reply.info);
  }
  return 0;
}

} // namespace

int run_command_line(int argc, char** argv) {
  const std::optional<Arguments> arguments = parse(argc, argv);
  if (!arguments) {
    std::cerr << kUsage;
    return kExitUsage;
  }
  return compile_file(*arguments);
}

} // namespace farcl::kernel_compiler
