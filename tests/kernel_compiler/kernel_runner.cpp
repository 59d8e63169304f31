#include "kernel_runner.hpp"

#include "farcl/kernel_compiler/printf_format.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace farcl::kernel_compiler::test {
namespace {

/// Memory with a mark behind it: writing past the end is seen.
class Guarded {
public:
  explicit Guarded(std::size_t size) : size_(size) {
    const std::size_t whole = (size + 2 * kMark - 1) / kMark * kMark;
    memory_.reset(static_cast<unsigned char*>(std::aligned_alloc(FARCL_KERNEL_MEMORY_ALIGNMENT, whole)));
    std::memset(memory_.get(), 0xA5, whole);
  }
  [[nodiscard]] void* get() const { return memory_.get(); }
  [[nodiscard]] bool is_intact() const {
    return std::all_of(memory_.get() + size_, memory_.get() + size_ + 64, [](unsigned char byte) { return byte == 0xA5; });
  }

private:
  static constexpr std::size_t kMark = 128;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::size_t size_;
  std::unique_ptr<unsigned char, Free> memory_;
};

} // namespace

ServiceProcess& shared_service() {
  static ServiceProcess service;
  return service;
}

CompileReply build(const std::string& source, const std::string& options) {
  static CompileConnection connection = shared_service().connect();
  CompileRequest request;
  request.source = source;
  request.options = options;
  auto reply = connection.compile(request);
  if (!reply) {
    throw std::runtime_error("the service gave no answer: " + reply.error().message);
  }
  return std::move(*reply);
}

Arguments& Arguments::bytes(const void* data, std::size_t size) {
  auto value = std::make_unique<Value>();
  if (size > value->bytes.size()) {
    throw std::runtime_error("an argument value is too large for the test");
  }
  std::memcpy(value->bytes.data(), data, size);
  values_.push_back(std::move(value));
  return *this;
}

Arguments& Arguments::local(std::size_t size_bytes) {
  memory_.push_back(std::shared_ptr<void>(std::aligned_alloc(128, (size_bytes + 127) / 128 * 128), std::free));
  return pointer(memory_.back().get());
}

Program::Program(const std::string& source, const std::string& options) {
  CompileReply reply = build(source, options);
  if (reply.data.status != CompileStatus::kOk) {
    throw std::runtime_error("the build failed:\n" + reply.data.log);
  }
  auto loaded = LoadedProgram::load(std::move(reply.shared_object));
  if (!loaded) {
    throw std::runtime_error(loaded.error().message);
  }
  loaded_ = std::make_unique<LoadedProgram>(std::move(*loaded));
  reply_ = std::move(reply.data);
}

const KernelInfo& Program::info(const std::string& kernel) const {
  for (const KernelInfo& one : reply_.info.kernels) {
    if (one.name == kernel) {
      return one;
    }
  }
  throw std::runtime_error("no kernel " + kernel);
}

int Program::on_printf(void* self, const FarclPrintfRecord* record) {
  static_cast<Program*>(self)->printed_ += format_printf(*record);
  return 0;
}

void Program::run(const std::string& kernel, Arguments& arguments, Size global, Size local, Size offset) {
  const FarclKernelFunction function = loaded_->find(kernel);
  const KernelInfo& facts = info(kernel);
  if (function == nullptr || facts.arguments.size() != arguments.values_.size()) {
    throw std::runtime_error("kernel " + kernel + " is missing or takes other arguments");
  }
  FarclLaunch launch{};
  launch.work_dim = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
  for (int i = 0; i < 3; ++i) {
    launch.global_size[i] = global[i];
    launch.global_offset[i] = offset[i];
    launch.local_size[i] = local[i];
    launch.num_groups[i] = (global[i] + local[i] - 1) / local[i];
  }
  launch.printf_context = this;
  launch.printf_write = &on_printf;
  std::vector<void*> addresses;
  for (const auto& value : arguments.values_) {
    addresses.push_back(value->bytes.data());
  }
  const Guarded local_memory(facts.static_local_bytes);
  const Guarded frames(facts.frame_bytes_per_item * local[0] * local[1] * local[2]);
  for (std::uint64_t z = 0; z < launch.num_groups[2]; ++z) {
    for (std::uint64_t y = 0; y < launch.num_groups[1]; ++y) {
      for (std::uint64_t x = 0; x < launch.num_groups[0]; ++x) {
        FarclGroup group{{x, y, z}, {}, local_memory.get(), frames.get()};
        for (int i = 0; i < 3; ++i) {
          group.local_size[i] = std::min(local[i], global[i] - group.group_id[i] * local[i]);
        }
        function(&launch, &group, addresses.data());
      }
    }
  }
  if (!local_memory.is_intact() || !frames.is_intact()) {
    throw std::runtime_error("kernel " + kernel + " wrote past its local memory or frames");
  }
}

} // namespace farcl::kernel_compiler::test
