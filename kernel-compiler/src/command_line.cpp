#include "command_line.hpp"

#include "compiler.hpp"
#include "service.hpp"
#include "text_report.hpp"

#include "farcl/base/unique_fd.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
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
#include <sys/prctl.h>
#include <sys/stat.h>
#include <thread>

namespace farcl::kernel_compiler {
namespace {

constexpr int kExitUsage = 2;

constexpr const char* kUsage =
    "usage: farcl-kc --compile FILE.cl [-o FILE.so] [--emit-llvm FILE.ll] [--dump-info] [-- BUILD OPTIONS]\n"
    "       farcl-kc --control-fd N [--cache FOLDER] [--cache-mib N] [--build-seconds N] [--build-mib N] [--max-builds N]\n"
    "Compiles OpenCL C to native kernels: one file, or as a service for connections that arrive over descriptor N.\n";

struct Arguments {
  std::optional<std::uint64_t> control_fd;
  std::string cache_folder;
  std::uint64_t cache_mib = Cache::kDefaultMaxBytes >> 20;
  std::uint64_t build_seconds = 60;
  std::uint64_t build_mib = 4096;
  std::uint64_t max_builds = 2ULL * std::max(1U, std::thread::hardware_concurrency());
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

std::optional<std::uint64_t> number(const std::string& text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool valid = error == std::errc() && end == text.data() + text.size() && value >= least && value <= most;
  return valid ? std::optional(value) : std::nullopt;
}

/// False if `word` is no option with a value, or the value is bad.
bool parse_value(Arguments& arguments, std::string_view word, const std::string& value) {
  struct Text {
    std::string_view name;
    std::string* into;
  };
  for (const Text& text : {Text{"--compile", &arguments.source_path}, Text{"-o", &arguments.output_path},
                           Text{"--emit-llvm", &arguments.ir_path}, Text{"--cache", &arguments.cache_folder}}) {
    if (word == text.name) {
      *text.into = value;
      return true;
    }
  }
  struct Number {
    std::string_view name;
    std::uint64_t* into;
    std::uint64_t least, most;
  };
  if (word == "--control-fd") {
    arguments.control_fd = number(value, 0, 1'000'000);
    return arguments.control_fd.has_value();
  }
  for (const Number& one :
       {Number{"--cache-mib", &arguments.cache_mib, 1, 1'000'000}, Number{"--build-seconds", &arguments.build_seconds, 1, 3600},
        Number{"--build-mib", &arguments.build_mib, 512, 1'000'000}, Number{"--max-builds", &arguments.max_builds, 1, 1024}}) {
    if (word == one.name) {
      const auto parsed = number(value, one.least, one.most);
      *one.into = parsed.value_or(0);
      return parsed.has_value();
    }
  }
  return false;
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  int i = 1;
  for (; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (std::string_view(argv[i]) == "--dump-info") {
      arguments.dump_info = true;
    } else if (i + 1 >= argc || !parse_value(arguments, argv[i], argv[i + 1])) {
      return std::nullopt;
    } else {
      ++i;
    }
  }
  for (++i; i < argc; ++i) {
    arguments.build_options += quote(argv[i]) + " ";
  }
  const bool one_task = arguments.source_path.empty() == arguments.control_fd.has_value();
  return one_task ? std::optional(arguments) : std::nullopt;
}

bool copy_to(int from, const std::string& path) {
  const UniqueFd to(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755));
  struct stat status{};
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

int run_service(const Arguments& arguments) {
  UniqueFd control(static_cast<int>(*arguments.control_fd));
  if (::fcntl(control.get(), F_SETFD, FD_CLOEXEC) != 0) {
    std::cerr << "farcl-kc: descriptor " << control.release() << " is not open\n";
    return 1;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::signal(SIGPIPE, SIG_IGN);
  auto compiler = Compiler::create(find_builtin_library());
  auto cache = Cache::open(arguments.cache_folder, arguments.cache_mib << 20);
  if (!compiler || !cache) {
    std::cerr << "farcl-kc: " << (compiler ? cache.error().message : compiler.error().message) << '\n';
    return 1;
  }
  ServiceOptions options;
  options.limits.wall = std::chrono::seconds(arguments.build_seconds);
  options.limits.memory_bytes = arguments.build_mib << 20;
  options.max_builds = arguments.max_builds;
  return Service(std::move(control), std::move(*compiler), std::move(*cache), options).run() ? 0 : 1;
}

} // namespace

int run_command_line(int argc, char** argv) {
  const std::optional<Arguments> arguments = parse(argc, argv);
  if (!arguments) {
    std::cerr << kUsage;
    return kExitUsage;
  }
  return arguments->control_fd ? run_service(*arguments) : compile_file(*arguments);
}

} // namespace farcl::kernel_compiler
