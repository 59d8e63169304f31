// What is measured.
#pragma once

#include "report.hpp"
#include "session.hpp"

#include <string>

namespace farcl::tools::bench {

struct BenchOptions {
  bool quick = false;
  bool as_json = false;
  bool over_unix = false;
  bool latency_only = false;
  bool trace = false;   ///< only the table of where a launch spends its time
  std::string platform; ///< measure this installed platform instead of a FarCL server

  [[nodiscard]] Effort effort(std::size_t repetitions) const {
    return {quick ? repetitions / 5 + 3 : repetitions, quick ? 0.25 : 2.0, quick ? 30u : 200u};
  }
};

void measure_latency(const Session& session, const BenchOptions& options, Report& report);
void measure_throughput(const Session& session, const BenchOptions& options, Report& report);
void measure_transfers(const Session& session, const BenchOptions& options, Report& report);
/// Over a Unix socket, where client and server share memory.
void measure_same_machine(const Session& session, const BenchOptions& options, Report& report);
void measure_builds(const Session& session, const BenchOptions& options, Report& report);
/// Starts new processes of this program, each of which computes one result.
void measure_session_start(const BenchOptions& options, Report& report);
/// Prints where an empty kernel spends its time, from the stamps that this process and its worker leave in FARCL_TRACE=`folder`.
void measure_trace(const Session& session, const std::string& folder);

} // namespace farcl::tools::bench
