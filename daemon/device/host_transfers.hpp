// Copies, fills, reads and writes in memory that this process can reach; what the cpu device and the fake share.
#pragma once

#include "daemon/device/command.hpp"

namespace farcl::daemon {

void perform(const Copy& copy);
void perform(const Fill& fill);
void perform(const Read& read);
void perform(const Write& write);

/// Bytes that the command moves, for deciding where it runs.
[[nodiscard]] std::uint64_t moved_bytes(const Copy& copy);
[[nodiscard]] inline std::uint64_t moved_bytes(const Fill& fill) { return fill.size_bytes; }
[[nodiscard]] inline std::uint64_t moved_bytes(const Read& read) { return read.into.size(); }
[[nodiscard]] inline std::uint64_t moved_bytes(const Write& write) { return write.from.size(); }

} // namespace farcl::daemon
