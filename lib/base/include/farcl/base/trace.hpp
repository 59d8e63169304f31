// Trace points: time stamps on the way of a command, which tell where its microseconds go.
//
// A point stays in the code. Off (the default) it costs one relaxed load and a branch that is not taken. With FARCL_TRACE=FOLDER
// client and workers each map a file of that folder and write their stamps there: a ring that keeps the newest kTraceCapacity of
// them. Nothing is written out at the end, so a process that is killed leaves its stamps too. The clock is CLOCK_MONOTONIC: stamps
// of processes of one machine can be compared.
//
// Threads: any may stamp at any time.
#pragma once

#include "farcl/base/result.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace farcl {

enum class TracePoint : std::uint32_t {
  kNone = 0,
  kCalled = 1,    ///< client: a launch has been validated
  kEncoded = 2,   ///< client: its message lies in the sender's log
  kWaiting = 3,   ///< client: clFinish begins
  kReturning = 4, ///< client: clFinish ends
  kSending = 5,   ///< both: about to hand bytes to the transport
  kSent = 6,      ///< both: the transport has taken some
  kReceived = 7,  ///< both: the transport has given some
  kDecoded = 8,   ///< worker: a launch's message is a value
  kRunning = 9,   ///< worker: the kernel's code begins
  kRan = 10,      ///< worker: it has ended
  kReplied = 11,  ///< worker: the answer to a clFinish lies in the sender's log
};

inline constexpr std::uint32_t kTraceCapacity = 1u << 16;

namespace detail {
struct TraceLog;
extern std::atomic<TraceLog*> trace_log; ///< null: off
void write_stamp(TraceLog& log, TracePoint point) noexcept;
} // namespace detail

inline void trace(TracePoint point) noexcept {
  if (detail::TraceLog* log = detail::trace_log.load(std::memory_order_relaxed); log != nullptr) [[unlikely]] {
    detail::write_stamp(*log, point);
  }
}

/// Begins to trace into FOLDER/ROLE.PID.trace; once per process. An empty folder leaves tracing off.
Status start_trace(const std::filesystem::path& folder, std::string_view role);

struct TraceStamp {
  std::uint64_t ns = 0; ///< CLOCK_MONOTONIC
  TracePoint point = TracePoint::kNone;
};
/// What one process has left, oldest first, without the ring's oldest entries if it is full. The file is hostile until read.
[[nodiscard]] Result<std::vector<TraceStamp>> read_trace(const std::filesystem::path& file);

} // namespace farcl
