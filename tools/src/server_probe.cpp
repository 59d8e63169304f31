#include "server_probe.hpp"

#include "farcl/net/link.hpp"
#include "farcl/protocol/dispatch.hpp"

#include <algorithm>
#include <optional>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

namespace farcl::tools {

namespace {
using Clock = std::chrono::steady_clock;
constexpr int kPings = 20;

std::string type_name(std::uint64_t type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) {
    return "GPU";
  }
  if ((type & CL_DEVICE_TYPE_CPU) != 0) {
    return "CPU";
  }
  return (type & CL_DEVICE_TYPE_ACCELERATOR) != 0 ? "accelerator" : "custom device";
}

// Text from the wire ends up on a terminal: no control characters.
std::string printable(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

DeviceReport describe(const protocol::DeviceInfo& info) {
  DeviceReport device;
  device.backend = printable(info.backend);
  const auto text = [&](cl_device_info name) -> std::string {
    for (const protocol::DeviceProperty& property : info.properties) {
      if (const auto* value = std::get_if<std::string>(&property.value); value != nullptr && property.name == name) {
        return printable(*value);
      }
    }
    return {};
  };
  const auto number = [&](cl_device_info name) -> std::uint64_t {
    for (const protocol::DeviceProperty& property : info.properties) {
      const auto* value = std::get_if<std::vector<std::uint64_t>>(&property.value);
      if (value != nullptr && !value->empty() && property.name == name) {
        return value->front();
      }
    }
    return 0;
  };
  device.name = text(CL_DEVICE_NAME);
  device.version = text(CL_DEVICE_VERSION);
  device.type = type_name(number(CL_DEVICE_TYPE));
  device.compute_units = number(CL_DEVICE_MAX_COMPUTE_UNITS);
  device.memory_bytes = number(CL_DEVICE_GLOBAL_MEM_SIZE);
  return device;
}

// Listens for the two things a probe wants and ignores the rest.
class ProbeSink : public net::FrameSink {
public:
  Status on_message(protocol::Opcode opcode, ConstBytes payload) override {
    if (opcode == protocol::ServerInfo::kOpcode) {
      auto decoded = protocol::decode<protocol::ServerInfo>(payload);
      if (!decoded) {
        return pass_on(std::move(decoded));
      }
      info = std::move(*decoded);
    } else if (opcode == protocol::SessionFailed::kOpcode) {
      auto decoded = protocol::decode<protocol::SessionFailed>(payload);
      return decoded ? Status(fail(ErrorCode::kRefused, decoded->sentence)) : pass_on(std::move(decoded));
    }
    return {};
  }
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader&, std::size_t) override {
    return fail(ErrorCode::kInvalid, "the server sent data that nobody asked for");
  }
  Status on_bulk(const protocol::BulkHeader&, std::size_t) override { return {}; }
  Status on_acknowledged(std::uint64_t) override { return {}; }
  void on_ping(std::uint64_t) override {}
  void on_pong(std::uint64_t token) override { pong = token; }

  std::optional<protocol::ServerInfo> info;
  std::uint64_t pong = 0;
};

class Probe {
public:
  Probe(net::Connection connection, Clock::time_point deadline) : connection_(std::move(connection)), deadline_(deadline) {}

  Result<protocol::ServerInfo> read_info() {
    auto seen = poll_until([this] { return sink_.info.has_value(); });
    return seen ? Result<protocol::ServerInfo>(std::move(*sink_.info)) : pass_on(std::move(seen));
  }

  Result<double> ping(std::uint64_t token) {
    const auto begin = Clock::now();
    sender_.append_ping(token);
    if (auto sent = sender_.flush(*connection_.transport); !sent) {
      return pass_on(std::move(sent));
    }
    auto seen = poll_until([this, token] { return sink_.pong == token; });
    return seen ? Result<double>(std::chrono::duration<double, std::micro>(Clock::now() - begin).count()) : pass_on(std::move(seen));
  }

  void say_goodbye() {
    sender_.append(protocol::Goodbye{});
    (void)sender_.flush(*connection_.transport); // the server frees the session anyway when the connection closes
    connection_.transport->shutdown();
  }

private:
  template <class Condition>
  Status poll_until(Condition&& done) {
    while (!done()) {
      auto got = receiver_.poll(*connection_.transport, sink_);
      if (!got) {
        return pass_on(std::move(got));
      }
      const auto left = deadline_ - Clock::now();
      if (left <= std::chrono::nanoseconds(0)) {
        return fail(ErrorCode::kTimeout, "connected, but no answer in time");
      }
      if (*got == 0) {
        connection_.transport->wait(net::Interest::kReadable, left, nullptr);
      }
    }
    return {};
  }

  net::Connection connection_;
  Clock::time_point deadline_;
  net::FrameReceiver receiver_;
  net::FrameSender sender_{receiver_.received_sequence()};
  ProbeSink sink_;
};

std::string refusal(const protocol::HelloReply& reply) {
  if (reply.status == protocol::HelloStatus::kBadVersion) {
    return "speaks protocol " + std::to_string(reply.version_min) + " to " + std::to_string(reply.version_max) + ", this is " +
           std::to_string(protocol::kVersion);
  }
  return "refused: " + printable(reply.text);
}
} // namespace

ServerReport probe_server(const net::ServerAddress& address, const Config& config) {
  ServerReport report;
  report.address = address.text;
  auto options = net::connect_options(config, address);
  if (!options) {
    report.error = options.error().message;
    return report;
  }
  auto connection = net::connect(address, protocol::Hello{}, *options);
  if (!connection) {
    report.error = connection.error().message;
    return report;
  }
  report.protocol_version = connection->reply.version_max;
  if (connection->reply.status != protocol::HelloStatus::kWelcome) {
    report.error = refusal(connection->reply);
    return report;
  }
  Probe probe(std::move(*connection), Clock::now() + options->timeout);
  auto info = probe.read_info();
  if (!info) {
    report.error = info.error().message;
    return report;
  }
  report.version = printable(info->version);
  report.host_name = printable(info->host_name);
  report.insecure = info->insecure;
  std::transform(info->devices.begin(), info->devices.end(), std::back_inserter(report.devices), describe);
  for (std::uint64_t token = 1; token <= kPings; ++token) {
    const auto microseconds = probe.ping(token);
    if (!microseconds) {
      report.error = microseconds.error().message;
      return report;
    }
    report.round_trip_us = token == 1 ? *microseconds : std::min(report.round_trip_us, *microseconds);
  }
  probe.say_goodbye();
  return report;
}

} // namespace farcl::tools
