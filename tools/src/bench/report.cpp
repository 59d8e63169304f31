#include "report.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace farcl::tools::bench {

std::string size_text(std::size_t bytes) {
  if (bytes >= (std::size_t{1} << 20)) {
    return std::to_string(bytes >> 20) + " MiB";
  }
  return bytes >= 1024 ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes) + " B";
}

void Report::add(Figure figure) {
  if (!as_json_) {
    std::printf("%-46s %12.2f %12.2f %-6s", figure.name.c_str(), figure.median, figure.p99, figure.unit.c_str());
    if (figure.in_limits > 0) {
      std::printf(" %8.2f %-4s", figure.in_limits, figure.limit.c_str());
    }
    std::printf(" n=%zu\n", figure.samples);
    std::fflush(stdout);
  }
  figures_.push_back(std::move(figure));
}

void Report::time(const std::string& name, const Sample& sample, double count) {
  const double median = sample.median() / count;
  add({name, "us", median, sample.p99() / count, sample.size(), median / limits_.round_trip_us, "R"});
}

void Report::milliseconds(const std::string& name, const Sample& sample) {
  add({name, "ms", sample.median() / 1e3, sample.p99() / 1e3, sample.size(), 0, ""});
}

void Report::rate(const std::string& name, const Sample& sample, double count) {
  add({name, "per s", count * 1e6 / sample.median(), count * 1e6 / sample.p99(), sample.size(),
       sample.median() / count / limits_.round_trip_us, "R"});
}

void Report::bandwidth(const std::string& name, const Sample& sample, std::size_t size_index) {
  const double bytes = static_cast<double>(kTransferSizes[size_index]);
  const double median = bytes / sample.median() / 1e3;
  add({name, "GB/s", median, bytes / sample.p99() / 1e3, sample.size(),
       median / (same_machine_ ? limits_.memcpy_gbs : limits_.raw_gbs)[size_index], same_machine_ ? "M" : "raw"});
}

void Report::skip(const std::string& name, const std::string& reason) {
  if (!as_json_) {
    std::printf("%-46s skipped: %s\n", name.c_str(), reason.c_str());
  }
}

void Report::begin(const std::string& device, const std::string& server, double load) const {
  if (as_json_) {
    return;
  }
  std::printf("device %s\nserver %s\nload of this machine at the start %.2f%s\n\n", device.c_str(), server.c_str(), load,
              load > 0.5 ? " (it is busy: expect worse and wavering figures)" : "");
  std::printf("limits of this machine now%s\n  R, a round trip over loopback TCP: %.2f us\n",
              limits_.two_cores ? "" : " (one core only: they mean little)", limits_.round_trip_us);
  for (std::size_t i = 0; i < kTransferSizes.size(); ++i) {
    std::printf("  %8s: raw TCP %6.2f GB/s, memcpy (M) %6.2f GB/s\n", size_text(kTransferSizes[i]).c_str(), limits_.raw_gbs[i],
                limits_.memcpy_gbs[i]);
  }
  std::printf("\n%-46s %12s %12s %-6s %8s\n", "figure", "median", "p99", "unit", "ratio");
}

void Report::end(const std::string& device, const std::string& server, double load) const {
  if (!as_json_) {
    return;
  }
  using nlohmann::json;
  json out{{"farcl", FARCL_VERSION}, {"device", device}, {"server", server}, {"load", load}};
  out["limits"] = {{"R_us", limits_.round_trip_us}, {"two_cores", limits_.two_cores}, {"transfers", json::array()}};
  for (std::size_t i = 0; i < kTransferSizes.size(); ++i) {
    out["limits"]["transfers"].push_back(
        {{"bytes", kTransferSizes[i]}, {"raw_gbs", limits_.raw_gbs[i]}, {"memcpy_gbs", limits_.memcpy_gbs[i]}});
  }
  out["figures"] = json::array();
  for (const Figure& figure : figures_) {
    json entry{{"name", figure.name}, {"median", figure.median}, {"p99", figure.p99}, {"unit", figure.unit}, {"samples", figure.samples}};
    if (figure.in_limits > 0) {
      entry["ratio"] = figure.in_limits;
      entry["limit"] = figure.limit;
    }
    out["figures"].push_back(std::move(entry));
  }
  std::printf("%s\n", out.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

} // namespace farcl::tools::bench
