// FakeDevice: a Device for tests. It logs what it is asked to do, does it for real in host memory, and completes at once or
// when the test says so.
//
// Threads: submit on the session thread; the test's functions on any thread.
#pragma once

#include "daemon/device/device.hpp"
#include "farcl/base/guarded.hpp"

#include <deque>

namespace farcl::daemon {

/// Its kernels, whatever the source: 0 "empty" (), 1 "add" (global int* at, int value): at[0] += value,
/// 2 "fail" (): ends with CL_OUT_OF_RESOURCES, 3 "local" (local, long), 4 "print" (): prints "hello\n".
/// A source that contains "#error" does not build; one that contains "later" builds when finish_build is called.
class FakeBuilder final : public ProgramBuilder {
public:
  [[nodiscard]] std::string name() const override { return "fake"; }
  void build(BuildRequest request, std::function<void(BuildResult)> done) override;
  /// Completes the oldest build that waits; false if there is none.
  bool finish_build();

private:
  struct Waiting {
    BuildRequest request;
    std::function<void(BuildResult)> done;
  };
  Guarded<std::deque<Waiting>> waiting_;
};

class FakeDevice final : public Device {
public:
  explicit FakeDevice(FakeBuilder& builder);

  [[nodiscard]] const protocol::DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::uint64_t local_memory_bytes() const noexcept override { return 32u << 10; }
  [[nodiscard]] ProgramBuilder& builder() noexcept override { return builder_; }
  [[nodiscard]] Result<MemoryPtr> allocate(std::uint64_t size_bytes, SharedMemorySource* shared) override;
  std::optional<DeviceResult> submit(const DeviceCommand& command, Token token, bool want_times, CompletionSink& sink) override;

  /// From now on commands wait for complete_next.
  void set_deferred(bool deferred);
  /// The next allocations fail.
  void fail_allocations(bool failing);
  /// Performs and completes the `index`th waiting command. False if there are not that many.
  bool complete_waiting(std::size_t index = 0, cl_int status = CL_COMPLETE);
  [[nodiscard]] std::size_t waiting();
  /// "add 5", "empty", "copy 16", "fill 64", "read 4", "write 4": in the order in which commands were started.
  [[nodiscard]] std::vector<std::string> log();

private:
  struct Waiting {
    DeviceCommand command;
    Token token = 0;
    CompletionSink* sink = nullptr;
  };
  struct State {
    bool deferred = false;
    bool allocations_fail = false;
    std::deque<Waiting> waiting;
    std::vector<std::string> log;
  };
  FakeBuilder& builder_;
  protocol::DeviceInfo info_;
  Guarded<State> state_;
};

} // namespace farcl::daemon
