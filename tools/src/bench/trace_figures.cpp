// farcl bench --trace: where each microsecond of an empty kernel with clFinish goes.
#include "figures.hpp"

#include "../launch_trace.hpp"

#include <cstdio>
#include <filesystem>

namespace farcl::tools::bench {

namespace {
/// The newest ones stay in a process's log: a launch leaves about ten stamps there.
constexpr std::size_t kLaunches = 4000;

std::vector<TraceStamp> read_or_throw(const std::filesystem::path& file) {
  auto stamps = read_trace(file);
  if (!stamps) {
    throw BenchFailure(stamps.error().message);
  }
  return std::move(*stamps);
}

// Of this process, and of the worker that ran kernels: a daemon keeps others in reserve.
LaunchTable read_folder(const std::filesystem::path& folder) {
  std::vector<TraceStamp> client;
  std::vector<TraceStamp> worker;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("client.")) {
      client = read_or_throw(entry.path());
    } else if (name.starts_with("worker.")) {
      if (auto stamps = read_or_throw(entry.path()); stamps.size() > worker.size()) {
        worker = std::move(stamps);
      }
    }
  }
  return tabulate_launches(client, worker);
}

void print(const LaunchStep& step) {
  std::printf("%-44s %-8s %9.2f us %9.2f us\n", step.name.c_str(), step.where.c_str(), step.median_us, step.p99_us);
}
} // namespace

void measure_trace(const Session& session, const std::string& folder) {
  for (std::size_t i = 0; i < kLaunches; ++i) {
    session.launch(session.queue, session.empty);
    check(clFinish(session.queue), "clFinish");
  }
  const LaunchTable table = read_folder(folder);
  if (table.launches == 0) {
    throw BenchFailure("no launch left all of its stamps: is the server on this machine, and was it started with FARCL_TRACE?");
  }
  std::printf("\nwhere an empty kernel with clFinish spends its time (%zu launches)\n%-44s %-8s %12s %12s\n", table.launches, "step",
              "where", "median", "p99");
  for (const LaunchStep& step : table.steps) {
    print(step);
  }
  print(table.whole);
}

} // namespace farcl::tools::bench
