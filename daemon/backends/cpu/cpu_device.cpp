#include "daemon/backends/cpu/cpu_device.hpp"

#include "daemon/backends/cpu/printf_collector.hpp"
#include "daemon/backends/cpu/running_slot.hpp"
#include "daemon/device/host_transfers.hpp"
#include "farcl/base/trace.hpp"

#include <algorithm>
#include <bit>

namespace farcl::daemon {

namespace {
/// Pieces of a job are taken so that each thread comes back about this often: little contention, and a good end.
constexpr std::uint64_t kTakesPerThread = 16;
constexpr unsigned kJobSlots = static_cast<unsigned>(kSessionThreadSlot);

std::uint64_t clock_if(bool wanted) { return wanted ? device_clock_ns() : 0; }

class LaunchJob final : public Job {
public:
  LaunchJob(CpuShared& shared, const Launch& launch, Token token, bool want_times, CompletionSink& sink)
      : shared_(shared), token_(token), want_times_(want_times), sink_(sink), printf_(sink) {
    launch_.prepare(launch, shared.kernels.size());
    launch_.set_printf(&printf_, &PrintfCollector::write);
    pieces = launch_.groups();
    pieces_at_once = std::max<std::uint64_t>(1, pieces / (shared.kernels.size() * kTakesPerThread));
  }

  void begin() override {
    slot_ = shared_.take_slot();
    if (slot_ >= 0) {
      shared_.page->running[static_cast<std::size_t>(slot_)].begin(launch_.info().name);
    }
    result_.started_ns = clock_if(want_times_);
  }
  void run(std::uint64_t first, std::uint64_t last, ThreadScratch& scratch) override {
    running_slot = slot_;
    const cl_int status = launch_.run(first, last, scratch);
    running_slot = -1;
    if (status != CL_COMPLETE) {
      status_.store(status, std::memory_order_relaxed);
    }
  }
  void end() override {
    printf_.finish();
    result_.ended_ns = clock_if(want_times_);
    result_.status = status_.load(std::memory_order_relaxed);
    if (slot_ >= 0) {
      shared_.page->running[static_cast<std::size_t>(slot_)].end();
      shared_.give_slot(slot_);
    }
    sink_.complete(token_, result_);
  }

private:
  CpuShared& shared_;
  Token token_;
  bool want_times_;
  CompletionSink& sink_;
  PrintfCollector printf_;
  PreparedLaunch launch_;
  int slot_ = -1;
  std::atomic<cl_int> status_{CL_COMPLETE};
  DeviceResult result_;
};

template <class Operation>
class MoveJob final : public Job {
public:
  MoveJob(const Operation& operation, Token token, bool want_times, CompletionSink& sink)
      : operation_(operation), token_(token), want_times_(want_times), sink_(sink) {}
  void begin() override { result_.started_ns = clock_if(want_times_); }
  void run(std::uint64_t, std::uint64_t, ThreadScratch&) override { perform(operation_); }
  void end() override {
    result_.ended_ns = clock_if(want_times_);
    sink_.complete(token_, result_);
  }

private:
  Operation operation_;
  Token token_;
  bool want_times_;
  CompletionSink& sink_;
  DeviceResult result_;
};

bool is_cheap(const PreparedLaunch& launch) {
  const KernelInfo& info = launch.info();
  std::uint64_t cost = 0;
  return info.cost_per_item != 0 && !info.uses_printf && info.private_bytes <= kInlinePrivateBytes &&
         !__builtin_mul_overflow(launch.groups(), launch.items_per_group(), &cost) &&
         !__builtin_mul_overflow(cost, info.cost_per_item, &cost) && cost <= kInlineInstructions;
}
} // namespace

int CpuShared::take_slot() noexcept {
  if (page == nullptr) {
    return -1;
  }
  std::uint64_t taken = used_slots.load(std::memory_order_relaxed);
  while (taken != UINT64_MAX) {
    const int slot = std::countr_one(taken);
    if (used_slots.compare_exchange_weak(taken, taken | (std::uint64_t{1} << slot), std::memory_order_acquire)) {
      return slot;
    }
  }
  return -1;
}
static_assert(kJobSlots == 64);

void CpuShared::give_slot(int slot) noexcept { used_slots.fetch_and(~(std::uint64_t{1} << slot), std::memory_order_release); }

std::optional<DeviceResult> CpuDevice::submit(const DeviceCommand& command, Token token, bool want_times, CompletionSink& sink) {
  return std::visit([&](const auto& one) { return start(one, token, want_times, sink); }, command);
}

std::optional<DeviceResult> CpuDevice::start(const Launch& launch, Token token, bool want_times, CompletionSink& sink) {
  if (launch.kernel->info().private_bytes > kMaxPrivateBytes) {
    return DeviceResult{CL_OUT_OF_RESOURCES, clock_if(want_times), clock_if(want_times)};
  }
  prepared_.prepare(launch, shared_.kernels.size());
  if (!is_cheap(prepared_)) {
    shared_.kernels.submit(std::make_shared<LaunchJob>(shared_, launch, token, want_times, sink));
    return std::nullopt;
  }
  DeviceResult result;
  result.started_ns = clock_if(want_times);
  running_slot = static_cast<int>(kSessionThreadSlot);
  {
    const RunningKernel report(shared_.page, kSessionThreadSlot, prepared_.info().name);
    trace(TracePoint::kRunning);
    result.status = prepared_.run(0, prepared_.groups(), scratch_);
    trace(TracePoint::kRan);
  }
  running_slot = -1;
  result.ended_ns = clock_if(want_times);
  return result;
}

template <class Operation>
std::optional<DeviceResult> CpuDevice::start(const Operation& operation, Token token, bool want_times, CompletionSink& sink) {
  if (moved_bytes(operation) > kInlineCopyBytes) {
    shared_.copies.submit(std::make_shared<MoveJob<Operation>>(operation, token, want_times, sink));
    return std::nullopt;
  }
  DeviceResult result;
  result.started_ns = clock_if(want_times);
  perform(operation);
  result.ended_ns = clock_if(want_times);
  return result;
}

} // namespace farcl::daemon
