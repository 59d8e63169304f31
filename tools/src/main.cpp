// farcl: the command people type. Everything it does can be done with the public parts as well.
#include "commands.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>

namespace {
int run(int argc, char** argv) {
  // Behind "--" stands another program's command line, which must not be looked at here.
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> program(mark == arguments.end() ? mark : mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());

  CLI::App app{"FarCL: the OpenCL devices of other machines as if they were local", "farcl"};
  app.require_subcommand(1);
  int exit_code = 0;
  farcl::tools::add_run_command(app, program, exit_code);
  farcl::tools::add_list_command(app, exit_code);
  farcl::tools::add_bench_command(app, exit_code);
  farcl::tools::add_keygen_command(app, exit_code);
  farcl::tools::add_help_command(app, exit_code);
  farcl::tools::add_version_command(app, exit_code);
  std::reverse(arguments.begin(), arguments.end()); // what CLI11 asks for
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : farcl::tools::kExitUsage;
  }
  return exit_code;
}
} // namespace

int main(int argc, char** argv) {
  std::signal(SIGCHLD, SIG_DFL); // a parent may have left it ignored, and then no child could be waited for
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "farcl: %s\n", error.what());
    return farcl::tools::kExitFailure;
  }
}
