#include "daemon/backends/cpu/local_size.hpp"

#include <algorithm>

namespace farcl::daemon {

namespace {
/// More work-items per group than this save nothing, and leave fewer groups to hand out.
constexpr std::uint64_t kEnoughItems = 512;
/// Groups per thread that keep all threads busy until the end although some take longer.
constexpr std::uint64_t kGroupsPerThread = 4;

/// The largest divisor of `size` that is at most `limit`; among those at least half as large, a multiple of `multiple` wins.
std::uint64_t good_divisor(std::uint64_t size, std::uint64_t limit, std::uint64_t multiple) {
  std::uint64_t largest = 1;
  std::uint64_t aligned = 1;
  for (std::uint64_t candidate = std::min(size, limit); candidate > 1; --candidate) {
    if (size % candidate != 0) {
      continue;
    }
    largest = std::max(largest, candidate);
    if (candidate % multiple == 0) {
      aligned = candidate;
      break;
    }
  }
  return aligned * 2 >= largest ? aligned : largest;
}
} // namespace

std::array<std::uint64_t, 3> choose_local_size(const NdRange& range, const KernelInfo& info, unsigned threads) {
  if (info.required_work_group_size[0] != 0) {
    return info.required_work_group_size;
  }
  const auto& global = range.global_size;
  const std::uint64_t maximum = std::max<std::uint64_t>(info.max_work_group_size, 1);
  std::uint64_t items = 1;
  for (const std::uint64_t size : global) {
    items *= size; // bounded by the session's check of the range
  }
  const std::uint64_t per_thread = std::max<std::uint64_t>(items / (std::max(threads, 1u) * kGroupsPerThread), 1);
  const std::uint64_t multiple = std::max<std::uint64_t>(info.preferred_multiple, 1);
  // Small ranges are cut for the sake of the threads, but never below one vector.
  std::uint64_t budget = std::min({maximum, kEnoughItems, std::max(per_thread, multiple)});
  std::array<std::uint64_t, 3> local{1, 1, 1};
  for (std::size_t i = 0; i < range.work_dim && budget > 1; ++i) {
    local[i] = good_divisor(global[i], budget, i == 0 ? multiple : 1);
    if (!info.uniform_work_groups && local[i] < std::min(multiple, budget) && global[i] > local[i]) {
      local[i] = std::min(global[i], budget); // an awkward size: better one smaller group at the edge than many tiny ones
    }
    budget /= local[i];
  }
  return local;
}

} // namespace farcl::daemon
