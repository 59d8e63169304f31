// The figures of one run, beside the limits of the same run.
#pragma once

#include "limits.hpp"
#include "measure.hpp"

#include <optional>
#include <string>
#include <vector>

namespace farcl::tools::bench {

struct Figure {
  std::string name;
  std::string unit; ///< "us", "ms", "per s", "GB/s"
  double median = 0;
  double p99 = 0; ///< of rates: what is reached in 99 of 100 cases
  std::size_t samples = 0;
  double in_limits = 0; ///< the median in units of the limit; 0: not compared
  std::string limit;    ///< "R", "raw" or "M"
};

class Report {
public:
  /// `same_machine`: transfers are compared with memcpy (M) instead of raw.
  Report(const Limits& limits, bool same_machine, bool as_json) : limits_(limits), same_machine_(same_machine), as_json_(as_json) {}

  /// A duration: each repetition did `count` operations; compared with R.
  void time(const std::string& name, const Sample& sample, double count = 1);
  void milliseconds(const std::string& name, const Sample& sample);
  /// Operations per second; each operation's time is compared with R.
  void rate(const std::string& name, const Sample& sample, double count);
  /// A transfer of kTransferSizes[size_index] bytes, compared with raw or M.
  void bandwidth(const std::string& name, const Sample& sample, std::size_t size_index);
  void skip(const std::string& name, const std::string& reason);

  /// The heading of the table; nothing for JSON.
  void begin(const std::string& device, const std::string& server, double load) const;
  void end(const std::string& device, const std::string& server, double load) const;

private:
  void add(Figure figure);

  Limits limits_;
  bool same_machine_;
  bool as_json_;
  std::vector<Figure> figures_;
};

[[nodiscard]] std::string size_text(std::size_t bytes);

} // namespace farcl::tools::bench
