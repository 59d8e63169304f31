// From the stamps of client and worker (farcl/base/trace.hpp) to a table: where the time of one launch with clFinish goes.
#pragma once

#include "farcl/base/trace.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace farcl::tools {

struct LaunchStep {
  std::string name;
  std::string where; ///< "client", "server", or "between"
  double median_us = 0;
  double p99_us = 0;
};

struct LaunchTable {
  std::vector<LaunchStep> steps; ///< in order of time; each begins where the one before ends
  LaunchStep whole;              ///< from the call of clEnqueueNDRangeKernel to the return of clFinish
  std::size_t launches = 0;      ///< that had all stamps
};

/// Looks at those launches of which both sides left every stamp. Stamps are in order of time.
[[nodiscard]] LaunchTable tabulate_launches(const std::vector<TraceStamp>& client, const std::vector<TraceStamp>& worker);

} // namespace farcl::tools
