// What a worker shows its supervisor without sending anything: one page per worker, and one page of spin permits for all.
//
// Both are sealed memfds (they neither shrink nor grow). The worker writes its page, the supervisor reads it a few times a
// second and once more when the worker has died; so a crashed or endless kernel can be named. A worker runs strangers' kernels:
// the supervisor takes what it reads as hostile (daemon/common/worker_page.cpp copies, bounds and cleans it) and decides
// nothing but sentences and the end of that very worker by it.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/base/shared_region.hpp"
#include "farcl/base/unique_fd.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace farcl::daemon {

inline constexpr std::size_t kRunningSlots = 65;      ///< one per device (kMaxDevicesPerServer), one for the session thread
inline constexpr std::size_t kSessionThreadSlot = 64; ///< kernels that run where they arrived
inline constexpr std::size_t kRunningNameBytes = 120;
inline constexpr std::size_t kLastWordsBytes = 240;
inline constexpr std::size_t kMaxSpinPermits = 256;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free,
              "the pages are shared between processes");

/// CLOCK_MONOTONIC, as the pages count it.
[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

enum class WorkerState : std::uint32_t {
  kStarting = 0,
  kReady = 1,   ///< everything that does not need a client is prepared
  kServing = 2, ///< has a connection, or waits for its client to come back
  kEnding = 3,  ///< the session is over; `ending_since_ns` says since when. The supervisor kills what takes too long
};

/// One kernel that runs now. Written by one thread at a time; readers cope with torn copies.
struct RunningSlot {
  std::atomic<std::uint32_t> sequence{0}; ///< odd: being written
  std::atomic<std::uint32_t> name_bytes{0};
  std::atomic<std::uint64_t> since_ns{0}; ///< its start on the clock of monotonic_ns(), a few milliseconds early; 0: nothing runs
  std::array<std::atomic<std::uint64_t>, kRunningNameBytes / 8> name{};

  /// Costs a few stores: fit for every launch. `kernel_name` is cut at kRunningNameBytes.
  void begin(std::string_view kernel_name) noexcept;
  void end() noexcept { since_ns.store(0, std::memory_order_release); }
};

struct WorkerPage {
  std::atomic<std::uint32_t> state{0};        ///< WorkerState
  std::atomic<std::uint32_t> faulted_slot{0}; ///< 1 + the slot whose kernel crashed, set by the worker's fault handler; 0: unknown
  std::atomic<std::uint64_t> heartbeat{0};    ///< counts up whenever the session thread goes round its loop
  std::atomic<std::uint64_t> ending_since_ns{0};
  std::atomic<std::uint32_t> last_words_bytes{0}; ///< a sentence that a dying worker leaves ("out of memory: ...")
  std::array<char, kLastWordsBytes> last_words{};
  std::array<RunningSlot, kRunningSlots> running;

  void set_state(WorkerState to) noexcept;
  /// Cut at kLastWordsBytes. Async-signal-safe.
  void leave_last_words(std::string_view sentence) noexcept;
};

/// Marks a kernel as running for as long as it lives.
class RunningKernel {
public:
  RunningKernel(WorkerPage* page, std::size_t slot, std::string_view kernel_name) noexcept
      : slot_(page == nullptr || slot >= kRunningSlots ? nullptr : &page->running[slot]) {
    if (slot_ != nullptr) {
      slot_->begin(kernel_name);
    }
  }
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;
  ~RunningKernel() {
    if (slot_ != nullptr) {
      slot_->end();
    }
  }

private:
  RunningSlot* slot_;
};

/// Who may spin: `count` permits (cores less one, at least one) for all workers of this daemon together. A permit is a slot that
/// names its owner, taken and given back by one atomic exchange, so that no instant exists at which a killed worker could lose
/// one: the supervisor empties the slots of a worker that has died.
struct SpinPermits {
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> owner{0}; ///< a worker's number, 0: free
  };
  std::atomic<std::uint32_t> count{0};
  std::array<Slot, kMaxSpinPermits> slots;

  /// A slot for `worker_number`, or -1: all are taken, sleep instead of spinning.
  [[nodiscard]] int take(std::uint32_t worker_number) noexcept;
  void give_back(int slot, std::uint32_t worker_number) noexcept;
  /// The supervisor's: of a dead worker.
  void free_all_of(std::uint32_t worker_number) noexcept;
};

/// Zero-initialised shared memory of one T.
template <class T>
struct SharedPage {
  SharedRegion region;
  T* memory = nullptr;

  [[nodiscard]] int fd() const noexcept { return region.fd(); }

  static Result<SharedPage> create(const char* name);
  static Result<SharedPage> open(UniqueFd from);
};
extern template struct SharedPage<WorkerPage>;
extern template struct SharedPage<SpinPermits>;

/// The supervisor's reading of a running slot: bounded, printable.
struct RunningKernelSeen {
  std::size_t slot = 0;
  std::uint64_t since_ns = 0;
  std::string name;
};
[[nodiscard]] std::vector<RunningKernelSeen> read_running(const WorkerPage& page);
[[nodiscard]] std::string read_last_words(const WorkerPage& page);
/// Printable ASCII only, everything else becomes '?'; cut at `max_bytes`.
[[nodiscard]] std::string clean_text(std::string_view hostile, std::size_t max_bytes);

} // namespace farcl::daemon
