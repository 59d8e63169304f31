// What one server says about itself, asked over the protocol.
#pragma once

#include "farcl/base/config.hpp"
#include "farcl/net/connect.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace farcl::tools {

struct DeviceReport {
  std::string name;
  std::string type; ///< "CPU", "GPU", ...
  std::string backend;
  std::string version;
  std::uint64_t compute_units = 0;
  std::uint64_t memory_bytes = 0;
};

struct ServerReport {
  std::string address;
  std::string error; ///< empty: reachable, and the rest is true
  std::string version;
  std::string host_name;
  std::uint16_t protocol_version = 0;
  bool insecure = false;
  double round_trip_us = 0; ///< the least of some pings
  std::vector<DeviceReport> devices;
};

/// Connects, reads the server's information, measures some pings and says goodbye. Bounded by the connect time-out twice.
[[nodiscard]] ServerReport probe_server(const net::ServerAddress& address, const Config& config);

} // namespace farcl::tools
