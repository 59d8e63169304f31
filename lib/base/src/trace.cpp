#include "farcl/base/trace.hpp"

#include "farcl/base/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

namespace farcl {

namespace detail {
// The file, as both sides of it see it. Zeros are an empty log.
struct TraceLog {
  struct Entry {
    std::atomic<std::uint64_t> ns;
    std::atomic<std::uint32_t> point;
    std::uint32_t reserved;
  };
  std::atomic<std::uint64_t> written; ///< stamps so far; the next one goes to `written` modulo the capacity
  std::uint64_t reserved;
  Entry entries[kTraceCapacity];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

std::atomic<TraceLog*> trace_log{nullptr};

void write_stamp(TraceLog& log, TracePoint point) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  TraceLog::Entry& entry = log.entries[log.written.fetch_add(1, std::memory_order_relaxed) % kTraceCapacity];
  entry.ns.store(static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec),
                 std::memory_order_relaxed);
  entry.point.store(static_cast<std::uint32_t>(point), std::memory_order_release);
}
} // namespace detail

using detail::TraceLog;

Status start_trace(const std::filesystem::path& folder, std::string_view role) {
  if (folder.empty() || detail::trace_log.load(std::memory_order_relaxed) != nullptr) {
    return {};
  }
  const std::string path = folder / (std::string(role) + "." + std::to_string(::getpid()) + ".trace");
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file || ::ftruncate(file.get(), sizeof(TraceLog)) != 0) {
    return fail_errno(errno, "cannot make " + path);
  }
  // Populated now: a page fault inside a stamp would be what it measures.
  void* memory = ::mmap(nullptr, sizeof(TraceLog), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file.get(), 0);
  if (memory == MAP_FAILED) {
    return fail_errno(errno, "cannot map " + path);
  }
  detail::trace_log.store(static_cast<TraceLog*>(memory), std::memory_order_release); // stays mapped as long as the process lives
  return {};
}

Result<std::vector<TraceStamp>> read_trace(const std::filesystem::path& file) {
  struct Entry {
    std::uint64_t ns;
    std::uint32_t point;
    std::uint32_t reserved;
  };
  struct {
    std::uint64_t written;
    std::uint64_t reserved;
  } header{};
  static_assert(sizeof(TraceLog) == sizeof header + kTraceCapacity * sizeof(Entry));
  std::vector<Entry> entries(kTraceCapacity);
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  in.read(reinterpret_cast<char*>(entries.data()), static_cast<std::streamsize>(entries.size() * sizeof(Entry)));
  if (!in) {
    return fail(ErrorCode::kInvalid, file.string() + " is not a trace");
  }
  std::vector<TraceStamp> stamps;
  const std::uint64_t count = std::min<std::uint64_t>(header.written, kTraceCapacity);
  stamps.reserve(count);
  for (std::uint64_t i = header.written - count; i != header.written; ++i) {
    const Entry& entry = entries[i % kTraceCapacity];
    stamps.push_back({entry.ns, static_cast<TracePoint>(entry.point)});
  }
  // Two threads' stamps may lie in the order in which they took their places.
  std::stable_sort(stamps.begin(), stamps.end(), [](const TraceStamp& a, const TraceStamp& b) { return a.ns < b.ns; });
  return stamps;
}

} // namespace farcl
