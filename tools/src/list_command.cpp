// farcl list: servers, whether they answer, and their devices. Speaks the protocol itself, so that it works without OpenCL.
#include "commands.hpp"
#include "farcl/base/config.hpp"
#include "server_probe.hpp"

#include <cstdio>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>

namespace farcl::tools {

namespace {
using nlohmann::json;

std::string size_text(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1u << 30));
  return text;
}

json to_json(const ServerReport& server) {
  json out{{"server", server.address}, {"reachable", server.error.empty()}};
  if (!server.error.empty()) {
    out["error"] = server.error;
    return out;
  }
  out["version"] = server.version;
  out["protocol"] = server.protocol_version;
  out["host"] = server.host_name;
  out["insecure"] = server.insecure;
  out["round_trip_us"] = server.round_trip_us;
  out["devices"] = json::array();
  for (const DeviceReport& device : server.devices) {
    out["devices"].push_back({{"name", device.name},
                              {"type", device.type},
                              {"backend", device.backend},
                              {"version", device.version},
                              {"compute_units", device.compute_units},
                              {"memory_bytes", device.memory_bytes}});
  }
  return out;
}

void print(const ServerReport& server) {
  if (!server.error.empty()) {
    std::printf("%s\n  not reachable: %s\n", server.address.c_str(), server.error.c_str());
    return;
  }
  std::printf("%s\n  FarCL %s on %s, protocol %u, round trip %.1f us\n", server.address.c_str(), server.version.c_str(),
              server.host_name.c_str(), server.protocol_version, server.round_trip_us);
  if (server.insecure) {
    std::printf("  INSECURE: anybody who reaches this address can run code there (farcld --insecure)\n");
  }
  for (std::size_t i = 0; i < server.devices.size(); ++i) {
    const DeviceReport& device = server.devices[i];
    std::printf("  device %zu: %s, %s, %llu compute units, %s (%s)\n", i, device.name.c_str(), device.type.c_str(),
                static_cast<unsigned long long>(device.compute_units), size_text(device.memory_bytes).c_str(), device.version.c_str());
  }
}

// Exit code: 0 when every server answered, else 1.
int list(const std::vector<std::string>& names, bool as_json) {
  const Config config = read_config();
  std::string text = config.servers;
  if (!names.empty()) {
    text.clear();
    for (const std::string& name : names) {
      text += name + " ";
    }
  }
  const net::ServerList list = net::parse_server_list(text);

  std::vector<std::future<ServerReport>> probes; // at the same time: a dead server costs one time-out, not one each
  for (const net::ServerAddress& address : list.servers) {
    probes.push_back(std::async(std::launch::async, [&address, &config] { return probe_server(address, config); }));
  }
  json all{{"servers", json::array()}, {"complaints", list.complaints}};
  bool every_one = list.complaints.empty();
  for (auto& probe : probes) {
    const ServerReport report = probe.get();
    every_one = every_one && report.error.empty();
    if (as_json) {
      all["servers"].push_back(to_json(report));
    } else {
      print(report);
    }
  }
  if (as_json) {
    // Names come from the wire: what is no UTF-8 is replaced, not thrown about.
    std::printf("%s\n", all.dump(2, ' ', false, json::error_handler_t::replace).c_str());
  } else {
    for (const std::string& complaint : list.complaints) {
      std::fprintf(stderr, "farcl list: %s\n", complaint.c_str());
    }
    if (list.servers.empty()) {
      std::fprintf(stderr, "farcl list: no servers; name some, or set POCL_REMOTE_SERVERS\n");
      return kExitUsage;
    }
  }
  return every_one ? 0 : kExitFailure;
}
} // namespace

void add_list_command(CLI::App& app, int& exit_code) {
  auto names = std::make_shared<std::vector<std::string>>();
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("list", "Servers and their devices");
  command->add_flag("--json", *as_json, "For machines");
  command->add_option("servers", *names, "Servers, as in POCL_REMOTE_SERVERS (default: its value)");
  command->callback([names, as_json, &exit_code] { exit_code = list(*names, *as_json); });
}

} // namespace farcl::tools
