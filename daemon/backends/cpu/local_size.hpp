// Choosing a work-group size where the program left it to the device.
#pragma once

#include "daemon/device/command.hpp"

namespace farcl::daemon {

/// Divides the global size in every dimension (unless the kernel allows smaller groups at the edge); at most info.max_work_group_size
/// work-items (or exactly the kernel's required size); in dimension 0 a multiple of the kernel's preferred one if that is possible; and
/// enough groups for `threads`.
[[nodiscard]] std::array<std::uint64_t, 3> choose_local_size(const NdRange& range, const KernelInfo& info, unsigned threads);

} // namespace farcl::daemon
