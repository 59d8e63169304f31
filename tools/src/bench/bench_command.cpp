// farcl bench: FarCL's figures beside the limits of the same machine in the same run.
#include "../commands.hpp"
#include "../private_daemon.hpp"
#include "../vendors.hpp"
#include "figures.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

namespace farcl::tools {

namespace {
using namespace bench;

struct Server {
  std::optional<PrivateDaemon> daemon;
  std::optional<TemporaryFolder> vendors_folder;
  std::string name;
};

int complain(const std::string& sentence) {
  std::fprintf(stderr, "farcl bench: %s\n", sentence.c_str());
  return kExitFailure;
}

// Sees to it that this process finds the device to measure, and it alone: before the first OpenCL call.
Result<Server> prepare_server(const BenchOptions& options) {
  Server server;
  if (!options.platform.empty()) {
    server.name = "none: platform \"" + options.platform + "\"";
    return server;
  }
  const char* given = std::getenv("POCL_REMOTE_SERVERS");
  if (given != nullptr && *given != '\0') {
    server.name = given;
  } else {
    PrivateDaemonOptions daemon_options;
    daemon_options.listen_on_tcp = !options.over_unix;
    auto daemon = PrivateDaemon::start(daemon_options);
    if (!daemon) {
      return pass_on(std::move(daemon));
    }
    server.name = options.over_unix ? daemon->unix_address() : daemon->tcp_address();
    server.daemon.emplace(std::move(*daemon));
    ::setenv("POCL_REMOTE_SERVERS", server.name.c_str(), 1);
  }
  auto folder = TemporaryFolder::create();
  if (!folder) {
    return pass_on(std::move(folder));
  }
  auto vendors = prepare_vendors(folder->path() / "vendors", Platforms::kFarclOnly);
  if (!vendors) {
    return pass_on(std::move(vendors));
  }
  if (*vendors) {
    ::setenv("OCL_ICD_VENDORS", (*vendors)->c_str(), 1);
  }
  server.vendors_folder.emplace(std::move(*folder));
  return server;
}

int measure(const BenchOptions& options) {
  auto server = prepare_server(options);
  if (!server) {
    return complain(server.error().message);
  }
  double load = 0;
  ::getloadavg(&load, 1);
  Report report(measure_limits(options.quick), options.as_json);
  const Session session(options.platform);
  report.begin(session.device_name, server->name, load);
  measure_latency(session, options, report);
  measure_throughput(session, options, report);
  measure_transfers(session, options, report);
  measure_builds(session, options, report);
  measure_session_start(options, report);
  report.end(session.device_name, server->name, load);
  return 0;
}
} // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  auto first_result = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("bench", "Measure a server (POCL_REMOTE_SERVERS, or a private one) beside this machine's limits");
  command->add_flag("--json", options->as_json, "For machines");
  command->add_flag("--quick", options->quick, "A few seconds instead of about a minute; coarser");
  command->add_flag("--unix", options->over_unix, "Reach the private server by a Unix socket instead of loopback TCP");
  command->add_option("--platform", options->platform, "Measure the installed OpenCL platform of this name instead (a part of it is enough)");
  command->add_flag("--first-result", *first_result)->group(""); // what measure_session_start runs
  command->callback([options, first_result, &exit_code] {
    try {
      if (*first_result) {
        compute_first_result(options->platform);
      } else {
        exit_code = measure(*options);
      }
    } catch (const std::exception& error) {
      exit_code = complain(error.what());
    }
  });
}

} // namespace farcl::tools
