#include "measure.hpp"

#include <algorithm>

namespace farcl::tools::bench {

namespace {
constexpr std::size_t kLeastRepetitions = 3;
constexpr double kWarmUpShare = 0.3; ///< of the measurement's own time
} // namespace

double now_us() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double Sample::quantile(double fraction) const {
  if (values_.empty()) {
    return 0;
  }
  std::vector<double> sorted = values_;
  const auto at = std::min(sorted.size() - 1, static_cast<std::size_t>(fraction * static_cast<double>(sorted.size())));
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(at), sorted.end());
  return sorted[at];
}

Sample collect(const Effort& effort, const std::function<double()>& once) {
  double end = now_us() + effort.seconds * kWarmUpShare * 1e6;
  for (std::size_t i = 0; i < effort.warm_up && (i == 0 || now_us() < end); ++i) {
    once();
  }
  Sample sample;
  end = now_us() + effort.seconds * 1e6;
  for (std::size_t i = 0; i < effort.repetitions && (i < kLeastRepetitions || now_us() < end); ++i) {
    sample.add(once());
  }
  return sample;
}

} // namespace farcl::tools::bench
