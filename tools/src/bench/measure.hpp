// Samples and how they are taken: a warm-up, then repetitions until there are enough or the time is used up.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace farcl::tools::bench {

[[nodiscard]] double now_us();

class Sample {
public:
  void add(double microseconds) { values_.push_back(microseconds); }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] double median() const { return quantile(0.5); }
  [[nodiscard]] double p99() const { return quantile(0.99); }
  [[nodiscard]] double quantile(double fraction) const;

private:
  std::vector<double> values_;
};

struct Effort {
  std::size_t repetitions = 2000; ///< at most
  double seconds = 1.5;           ///< at most, after the warm-up (three repetitions are always made)
  std::size_t warm_up = 100;
};

/// `once` does the work and returns its microseconds.
[[nodiscard]] Sample collect(const Effort& effort, const std::function<double()>& once);

/// The microseconds that `work` takes.
template <class Work>
[[nodiscard]] double timed(Work&& work) {
  const double begin = now_us();
  work();
  return now_us() - begin;
}

} // namespace farcl::tools::bench
