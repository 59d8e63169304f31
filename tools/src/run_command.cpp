// farcl run: a program with a server of its own.
#include "commands.hpp"
#include "private_daemon.hpp"
#include "program_runner.hpp"
#include "vendors.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>

namespace farcl::tools {

namespace {
struct RunOptions {
  std::vector<std::string> command;
  std::string devices;
  unsigned kernel_seconds = 0;
  bool only = false;
  bool verbose = false;
};

int complain(const Error& error, int code) {
  std::fprintf(stderr, "farcl run: %s\n", error.message.c_str());
  return code;
}

int run(const RunOptions& options) {
  PrivateDaemonOptions daemon_options;
  if (!options.devices.empty()) {
    daemon_options.arguments.insert(daemon_options.arguments.end(), {"--devices", options.devices});
  }
  if (options.kernel_seconds > 0) {
    daemon_options.arguments.insert(daemon_options.arguments.end(), {"--kernel-seconds", std::to_string(options.kernel_seconds)});
  }
  daemon_options.show_log = options.verbose;
  auto daemon = PrivateDaemon::start(daemon_options);
  if (!daemon) {
    return complain(daemon.error(), kExitFailure);
  }
  auto vendors = prepare_vendors(daemon->folder() / "vendors", options.only ? Platforms::kFarclOnly : Platforms::kFarclBesideOthers);
  if (!vendors) {
    return complain(vendors.error(), kExitFailure);
  }
  std::map<std::string, std::string> environment{{"POCL_REMOTE_SERVERS", daemon->unix_address()}};
  if (*vendors) {
    environment["OCL_ICD_VENDORS"] = **vendors;
  }
  const auto code = run_program(options.command, environment);
  daemon->stop();
  if (!code) {
    return complain(code.error(), code.error().system_errno == ENOENT ? kProgramNotFound : kProgramNotExecutable);
  }
  return *code;
}
} // namespace

void add_run_command(CLI::App& app, const std::vector<std::string>& program, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a program with a private server: farcl run [OPTIONS] -- PROGRAM [ARGUMENTS]");
  command->add_flag("--only", options->only, "Hide the other OpenCL platforms of this machine from the program");
  command->add_flag("-v,--verbose", options->verbose, "Show the server's log on stderr");
  command->add_option("--devices", options->devices, "The devices of the server, as farcld --devices takes them");
  command->add_option("--kernel-seconds", options->kernel_seconds, "End the session when a kernel runs longer");
  command->prefix_command(); // `farcl run clinfo -l` works as well
  command->callback([command, options, program, &exit_code] {
    options->command = program.empty() ? command->remaining() : program;
    if (options->command.empty() || (!program.empty() && command->remaining_size() > 0)) {
      std::fprintf(stderr, "farcl run: no program given, or something before \"--\" was not understood; see farcl run --help\n");
      exit_code = kExitUsage;
      return;
    }
    exit_code = run(*options);
  });
}

} // namespace farcl::tools
