#include "daemon/device/fake_device.hpp"

#include "daemon/device/host_memory.hpp"
#include "daemon/device/host_transfers.hpp"

#include <cstring>

namespace farcl::daemon {

namespace {
ArgumentInfo argument(ArgumentKind kind, std::uint32_t size_bytes) {
  ArgumentInfo info;
  info.kind = kind;
  info.size_bytes = size_bytes;
  info.alignment_bytes = size_bytes;
  return info;
}

KernelInfo kernel(std::string name, std::vector<ArgumentInfo> arguments) {
  KernelInfo info;
  info.name = std::move(name);
  info.arguments = std::move(arguments);
  info.max_work_group_size = 256;
  info.cost_per_item = 1;
  return info;
}

std::shared_ptr<const ProgramInfo> fake_info() {
  auto info = std::make_shared<ProgramInfo>();
  info->kernels.push_back(kernel("empty", {}));
  info->kernels.push_back(kernel("add", {argument(ArgumentKind::kGlobal, 8), argument(ArgumentKind::kValue, 4)}));
  info->kernels.push_back(kernel("fail", {}));
  info->kernels.push_back(kernel("local", {argument(ArgumentKind::kLocal, 8), argument(ArgumentKind::kValue, 8)}));
  info->kernels.push_back(kernel("print", {}));
  return info;
}

class FakeProgram final : public DeviceProgram {
public:
  explicit FakeProgram(std::shared_ptr<const ProgramInfo> from) : info_(std::move(from)) {
    for (const KernelInfo& one : info_->kernels) {
      kernels_.emplace_back(one);
    }
  }
  [[nodiscard]] const DeviceKernel* kernel(std::size_t index) const noexcept override {
    return index < kernels_.size() ? &kernels_[index] : nullptr;
  }

private:
  std::shared_ptr<const ProgramInfo> info_;
  std::deque<DeviceKernel> kernels_;
};

BuildResult build_now(const BuildRequest& request) {
  BuildResult result;
  result.info = std::make_shared<const ProgramInfo>();
  if (request.hash) { // it knows none
    result.source_wanted = true;
    return result;
  }
  if (request.source.find("#error") != std::string::npos) {
    result.status = CL_BUILD_PROGRAM_FAILURE;
    result.log = "source.cl:1:1: error: as asked for\n";
    return result;
  }
  result.binary = std::make_shared<const ByteVector>(ByteVector(16, std::byte{0x5a}));
  if (request.stage == protocol::BuildStage::kCompile) {
    result.binary_type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
    return result;
  }
  result.binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  result.info = fake_info();
  result.program = std::make_shared<FakeProgram>(result.info);
  return result;
}

std::string describe(const Launch& launch) {
  std::string text = launch.kernel->info().name;
  if (text == "add") {
    std::int32_t value = 0;
    std::memcpy(&value, launch.values + launch.arguments[1].value_offset, sizeof value);
    text += " " + std::to_string(value);
  }
  return text;
}
std::string describe(const Copy& copy) { return "copy " + std::to_string(moved_bytes(copy)); }
std::string describe(const Fill& fill) { return "fill " + std::to_string(fill.size_bytes); }
std::string describe(const Read& read) { return "read " + std::to_string(read.into.size()); }
std::string describe(const Write& write) { return "write " + std::to_string(write.from.size()); }

cl_int run(const Launch& launch, CompletionSink& sink) {
  const std::string& name = launch.kernel->info().name;
  if (name == "add" && launch.arguments[0].place.memory != nullptr) {
    std::byte* at = launch.arguments[0].place.memory->host_pointer() + launch.arguments[0].place.offset;
    std::int32_t sum = 0;
    std::int32_t value = 0;
    std::memcpy(&sum, at, sizeof sum);
    std::memcpy(&value, launch.values + launch.arguments[1].value_offset, sizeof value);
    sum += value;
    std::memcpy(at, &sum, sizeof sum);
  }
  if (name == "print") {
    (void)sink.print("hello\n");
  }
  return name == "fail" ? CL_OUT_OF_RESOURCES : CL_COMPLETE;
}
template <class Operation>
cl_int run(const Operation& operation, CompletionSink&) {
  perform(operation);
  return CL_COMPLETE;
}
} // namespace

void FakeBuilder::build(BuildRequest request, std::function<void(BuildResult)> done) {
  if (request.source.find("later") != std::string::npos) {
    waiting_.lock()->push_back({std::move(request), std::move(done)});
    return;
  }
  done(build_now(request));
}

bool FakeBuilder::finish_build() {
  Waiting first;
  {
    auto waiting = waiting_.lock();
    if (waiting->empty()) {
      return false;
    }
    first = std::move(waiting->front());
    waiting->pop_front();
  }
  first.done(build_now(first.request));
  return true;
}

FakeDevice::FakeDevice(FakeBuilder& builder) : builder_(builder) {
  info_.backend = "fake";
  info_.properties.push_back({CL_DEVICE_NAME, std::string("a fake")});
}

Result<MemoryPtr> FakeDevice::allocate(std::uint64_t size_bytes, SharedMemorySource* shared) {
  if (state_.lock()->allocations_fail) {
    return fail(ErrorCode::kOutOfMemory, "the fake has no memory left");
  }
  MemoryPtr memory = shared != nullptr ? shared->allocate(size_bytes) : nullptr;
  return memory != nullptr ? Result<MemoryPtr>(std::move(memory)) : HostMemory::allocate(size_bytes);
}

std::optional<DeviceResult> FakeDevice::submit(const DeviceCommand& command, Token token, bool want_times, CompletionSink& sink) {
  {
    auto state = state_.lock();
    state->log.push_back(std::visit([](const auto& one) { return describe(one); }, command));
    if (state->deferred) {
      state->waiting.push_back({command, token, &sink});
      return std::nullopt;
    }
  }
  DeviceResult result;
  result.started_ns = want_times ? device_clock_ns() : 0;
  result.status = std::visit([&](const auto& one) { return run(one, sink); }, command);
  result.ended_ns = want_times ? device_clock_ns() : 0;
  return result;
}

void FakeDevice::set_deferred(bool deferred) { state_.lock()->deferred = deferred; }
void FakeDevice::fail_allocations(bool failing) { state_.lock()->allocations_fail = failing; }

bool FakeDevice::complete_waiting(std::size_t index, cl_int status) {
  Waiting one;
  {
    auto state = state_.lock();
    if (index >= state->waiting.size()) {
      return false;
    }
    one = state->waiting[index];
    state->waiting.erase(state->waiting.begin() + static_cast<std::ptrdiff_t>(index));
  }
  DeviceResult result;
  result.started_ns = device_clock_ns();
  result.status = status < 0 ? status : std::visit([&](const auto& command) { return run(command, *one.sink); }, one.command);
  result.ended_ns = device_clock_ns();
  one.sink->complete(one.token, result);
  return true;
}

std::size_t FakeDevice::waiting() { return state_.lock()->waiting.size(); }
std::vector<std::string> FakeDevice::log() { return state_.lock()->log; }

} // namespace farcl::daemon
