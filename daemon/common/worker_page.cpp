#include "daemon/common/worker_page.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

namespace farcl::daemon {

namespace {
inline constexpr int kTornCopyRetries = 4; ///< then the torn name is shown: it names a process that is about to be judged by a person

/// Copies the bounded name once; false when the writer was at it.
bool copy_name(const RunningSlot& slot, RunningKernelSeen& into) {
  const std::uint32_t before = slot.sequence.load(std::memory_order_acquire);
  const std::size_t bytes = std::min<std::size_t>(slot.name_bytes.load(std::memory_order_relaxed), kRunningNameBytes);
  std::array<std::uint64_t, kRunningNameBytes / 8> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = slot.name[i].load(std::memory_order_relaxed);
  }
  into.since_ns = slot.since_ns.load(std::memory_order_relaxed);
  into.name = clean_text({reinterpret_cast<const char*>(words.data()), bytes}, kRunningNameBytes);
  std::atomic_thread_fence(std::memory_order_acquire);
  return before % 2 == 0 && before == slot.sequence.load(std::memory_order_relaxed);
}

std::uint64_t read_clock_ns(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}
} // namespace

std::uint64_t monotonic_ns() noexcept { return read_clock_ns(CLOCK_MONOTONIC); }

void RunningSlot::begin(std::string_view kernel_name) noexcept {
  const std::size_t bytes = std::min(kernel_name.size(), kRunningNameBytes);
  const std::uint32_t at = sequence.load(std::memory_order_relaxed);
  sequence.store(at + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  name_bytes.store(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
  for (std::size_t i = 0; i * 8 < bytes; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, kernel_name.data() + i * 8, std::min<std::size_t>(8, bytes - i * 8));
    name[i].store(word, std::memory_order_relaxed);
  }
  // Kernels are judged by seconds: the clock that costs a load instead of a tenth of a small launch is good enough.
  since_ns.store(read_clock_ns(CLOCK_MONOTONIC_COARSE), std::memory_order_relaxed);
  sequence.store(at + 2, std::memory_order_release);
}

void WorkerPage::set_state(WorkerState to) noexcept {
  if (to == WorkerState::kEnding && ending_since_ns.load(std::memory_order_relaxed) == 0) {
    ending_since_ns.store(monotonic_ns(), std::memory_order_relaxed);
  }
  state.store(static_cast<std::uint32_t>(to), std::memory_order_release);
}

void WorkerPage::leave_last_words(std::string_view sentence) noexcept {
  const std::size_t bytes = std::min(sentence.size(), kLastWordsBytes);
  std::memcpy(last_words.data(), sentence.data(), bytes);
  last_words_bytes.store(static_cast<std::uint32_t>(bytes), std::memory_order_release);
}

int SpinPermits::take(std::uint32_t worker_number) noexcept {
  const std::uint32_t bound = std::min<std::uint32_t>(count.load(std::memory_order_relaxed), kMaxSpinPermits);
  for (std::uint32_t i = 0; i < bound; ++i) {
    const std::uint32_t at = (worker_number + i) % bound;
    std::uint32_t free = 0;
    if (slots[at].owner.load(std::memory_order_relaxed) == 0 &&
        slots[at].owner.compare_exchange_strong(free, worker_number, std::memory_order_acquire)) {
      return static_cast<int>(at);
    }
  }
  return -1;
}

void SpinPermits::give_back(int slot, std::uint32_t worker_number) noexcept {
  if (slot >= 0 && static_cast<std::size_t>(slot) < kMaxSpinPermits) {
    std::uint32_t mine = worker_number;
    slots[static_cast<std::size_t>(slot)].owner.compare_exchange_strong(mine, 0, std::memory_order_release);
  }
}

void SpinPermits::free_all_of(std::uint32_t worker_number) noexcept {
  for (std::size_t i = 0; i < kMaxSpinPermits; ++i) {
    give_back(static_cast<int>(i), worker_number);
  }
}

namespace {
template <class T>
Result<SharedPage<T>> page_in(Result<SharedRegion> region) {
  if (!region) {
    return pass_on(std::move(region));
  }
  SharedPage<T> page;
  page.region = std::move(*region);
  // A fresh memfd is zeros, which is what every field starts as: the type is implicit-lifetime in all but the letter.
  page.memory = reinterpret_cast<T*>(page.region.data());
  return page;
}
} // namespace

template <class T>
Result<SharedPage<T>> SharedPage<T>::create(const char* name) {
  return page_in<T>(SharedRegion::create(name, sizeof(T)));
}

template <class T>
Result<SharedPage<T>> SharedPage<T>::open(UniqueFd from) {
  return page_in<T>(SharedRegion::open(std::move(from), sizeof(T), sizeof(T)));
}

template struct SharedPage<WorkerPage>;
template struct SharedPage<SpinPermits>;

std::vector<RunningKernelSeen> read_running(const WorkerPage& page) {
  std::vector<RunningKernelSeen> seen;
  for (std::size_t i = 0; i < kRunningSlots; ++i) {
    const RunningSlot& slot = page.running[i];
    if (slot.since_ns.load(std::memory_order_acquire) == 0) {
      continue;
    }
    RunningKernelSeen one;
    one.slot = i;
    for (int tries = 0; tries < kTornCopyRetries && !copy_name(slot, one); ++tries) {
    }
    if (one.since_ns != 0) {
      seen.push_back(std::move(one));
    }
  }
  return seen;
}

std::string read_last_words(const WorkerPage& page) {
  const std::size_t bytes = std::min<std::size_t>(page.last_words_bytes.load(std::memory_order_acquire), kLastWordsBytes);
  std::array<char, kLastWordsBytes> copy{};
  std::memcpy(copy.data(), page.last_words.data(), bytes);
  return clean_text({copy.data(), bytes}, kLastWordsBytes);
}

std::string clean_text(std::string_view hostile, std::size_t max_bytes) {
  std::string clean(hostile.substr(0, max_bytes));
  std::replace_if(clean.begin(), clean.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return clean;
}

} // namespace farcl::daemon
