// farcl bench: FarCL's figures beside the limits of the same machine in the same run.
#include "../commands.hpp"
#include "../private_daemon.hpp"
#include "../program_runner.hpp"
#include "../vendors.hpp"
#include "figures.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

namespace farcl::tools {

namespace {
using namespace bench;

// Where the child that measures finds its server: the environment of an ordinary program.
struct Surroundings {
  std::optional<PrivateDaemon> daemon;
  std::optional<TemporaryFolder> folder; ///< for the vendors, where there is no daemon's
  std::optional<TemporaryFolder> traces;
  std::map<std::string, std::string> environment;
};

int complain(const std::string& sentence) {
  std::fprintf(stderr, "farcl bench: %s\n", sentence.c_str());
  return kExitFailure;
}

bool names_servers(const char* text) { return text != nullptr && *text != '\0'; }

// A private daemon, or a folder for the servers that POCL_REMOTE_SERVERS names.
Status choose_server(const BenchOptions& options, Surroundings& surroundings) {
  if (names_servers(std::getenv("POCL_REMOTE_SERVERS"))) {
    auto folder = TemporaryFolder::create();
    if (!folder) {
      return pass_on(std::move(folder));
    }
    surroundings.folder.emplace(std::move(*folder));
    return {};
  }
  PrivateDaemonOptions daemon_options;
  daemon_options.listen_on_tcp = !options.over_unix;
  auto daemon = PrivateDaemon::start(daemon_options);
  if (!daemon) {
    return pass_on(std::move(daemon));
  }
  surroundings.environment["POCL_REMOTE_SERVERS"] = options.over_unix ? daemon->unix_address() : daemon->tcp_address();
  surroundings.daemon.emplace(std::move(*daemon));
  return {};
}

// A folder for the stamps of --trace, told to both ends by the environment that they inherit.
Status choose_trace_folder(Surroundings& surroundings) {
  auto folder = TemporaryFolder::create();
  if (!folder) {
    return pass_on(std::move(folder));
  }
  ::setenv("FARCL_TRACE", folder->path().c_str(), 1);
  surroundings.traces.emplace(std::move(*folder));
  return {};
}

Result<Surroundings> prepare(const BenchOptions& options) {
  Surroundings surroundings;
  if (options.trace && std::getenv("FARCL_TRACE") == nullptr) {
    if (auto chosen = choose_trace_folder(surroundings); !chosen) {
      return pass_on(std::move(chosen));
    }
  }
  if (!options.platform.empty()) {
    return surroundings;
  }
  if (auto chosen = choose_server(options, surroundings); !chosen) {
    return pass_on(std::move(chosen));
  }
  const auto& folder = surroundings.daemon ? surroundings.daemon->folder() : surroundings.folder->path();
  auto vendors = prepare_vendors(folder / "vendors", Platforms::kFarclOnly);
  if (!vendors) {
    return pass_on(std::move(vendors));
  }
  if (*vendors) {
    surroundings.environment["OCL_ICD_VENDORS"] = **vendors;
  }
  return surroundings;
}

// The measurement runs in a child, which ends before its server does, as with any program.
int run_measurement(const BenchOptions& options) {
  auto surroundings = prepare(options);
  if (!surroundings) {
    return complain(surroundings.error().message);
  }
  std::vector<std::string> command{"/proc/self/exe", "bench", "--measure"};
  if (options.quick) {
    command.emplace_back("--quick");
  }
  if (options.as_json) {
    command.emplace_back("--json");
  }
  if (options.trace) {
    command.emplace_back("--trace");
  }
  if (options.latency_only) {
    command.emplace_back("--latency");
  }
  if (!options.platform.empty()) {
    command.push_back("--platform=" + options.platform);
  }
  const auto code = run_program(command, surroundings->environment);
  return code ? *code : complain(code.error().message);
}

int measure(const BenchOptions& options) {
  if (options.trace) {
    const char* folder = std::getenv("FARCL_TRACE");
    measure_trace(Session(options.platform), folder == nullptr ? "" : folder);
    return 0;
  }
  const char* servers = std::getenv("POCL_REMOTE_SERVERS");
  const std::string server = options.platform.empty() && names_servers(servers) ? servers : "none: platform \"" + options.platform + "\"";
  double load = 0;
  ::getloadavg(&load, 1);
  const bool same_machine = server.starts_with("unix:");
  Report report(measure_limits(options.quick || options.latency_only), same_machine, options.as_json);
  const Session session(options.platform);
  report.begin(session.device_name, server, load);
  measure_latency(session, options, report);
  if (!options.latency_only) {
    measure_throughput(session, options, report);
    measure_transfers(session, options, report);
    if (same_machine) {
      measure_same_machine(session, options, report);
    }
    measure_builds(session, options, report);
    measure_session_start(options, report);
  }
  report.end(session.device_name, server, load);
  return 0;
}
} // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  auto first_result = std::make_shared<bool>(false);
  auto in_child = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("bench", "Measure a server (POCL_REMOTE_SERVERS, or a private one) beside this machine's limits");
  command->add_flag("--json", options->as_json, "For machines");
  command->add_flag("--quick", options->quick, "A few seconds instead of about a minute; coarser");
  command->add_flag("--unix", options->over_unix, "Reach the private server by a Unix socket instead of loopback TCP");
  command->add_flag("--latency", options->latency_only, "Only how long single small commands take");
  command->add_flag("--trace", options->trace, "Only show where an empty kernel spends its time, step by step");
  command->add_option("--platform", options->platform,
                      "Measure the installed OpenCL platform of this name instead (a part of it is enough)");
  command->add_flag("--first-result", *first_result)->group(""); // what measure_session_start runs
  command->add_flag("--measure", *in_child)->group("");          // what run_measurement runs
  command->callback([options, first_result, in_child, &exit_code] {
    try {
      if (*first_result) {
        compute_first_result(options->platform);
      } else {
        exit_code = *in_child ? measure(*options) : run_measurement(*options);
      }
    } catch (const std::exception& error) {
      exit_code = complain(error.what());
    }
  });
}

} // namespace farcl::tools
