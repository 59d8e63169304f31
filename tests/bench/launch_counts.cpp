// Launches of a counter kernel with a new argument each, client and server in this one process over the loopback transport, for
// callgrind to count what one of them costs on each side (launch_counts_test.py).
//
// The clock stands nearly still while launches are enqueued, so that how many are collected for one write depends on their bytes
// alone: time passes fifty times faster under callgrind.
#include "daemon/backends/cpu/cpu_backend.hpp"
#include "daemon/session/session.hpp"
#include "driver/session/runtime.hpp"
#include "farcl/net/loopback.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace {
std::atomic<bool> clock_stands{false};
std::atomic<std::int64_t> standing_ns{0};

std::int64_t real_ns(clockid_t clock) {
  timespec now{};
  ::syscall(SYS_clock_gettime, clock, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}
} // namespace

// Takes libc's place for everything in this process.
extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const std::int64_t ns = clock == CLOCK_MONOTONIC && clock_stands.load() ? standing_ns.fetch_add(1) : real_ns(clock);
  *now = {ns / 1'000'000'000, ns % 1'000'000'000};
  return 0;
}

namespace farcl::daemon {
namespace {

constexpr unsigned kLaunches = 4000;

void check(bool right, const char* what) {
  if (!right) {
    std::fprintf(stderr, "launch_counts: %s\n", what);
    std::_Exit(1);
  }
}
void check(cl_int code, const char* what) { check(code == CL_SUCCESS, what); }

/// kernel void add(global uint* counter, uint amount) { counter[0] += amount; }
void add_group(const FarclLaunch*, const FarclGroup*, void* const* arguments) {
  **static_cast<cl_uint* const*>(arguments[0]) += *static_cast<const cl_uint*>(arguments[1]);
}

std::shared_ptr<const ProgramInfo> program_info() {
  KernelInfo add;
  add.name = "add";
  add.max_work_group_size = 1024;
  add.cost_per_item = 4;
  add.arguments.resize(2);
  add.arguments[0].kind = ArgumentKind::kGlobal;
  add.arguments[0].size_bytes = sizeof(void*);
  add.arguments[1].kind = ArgumentKind::kValue;
  add.arguments[1].size_bytes = add.arguments[1].alignment_bytes = sizeof(cl_uint);
  return std::make_shared<const ProgramInfo>(ProgramInfo{{add}});
}

class OneKernel final : public DeviceProgram {
public:
  explicit OneKernel(std::shared_ptr<const ProgramInfo> info) : info_(std::move(info)), kernel_(info_->kernels.front(), &add_group) {}
  [[nodiscard]] const DeviceKernel* kernel(std::size_t index) const noexcept override { return index == 0 ? &kernel_ : nullptr; }

private:
  std::shared_ptr<const ProgramInfo> info_;
  CpuKernel kernel_;
};

/// Every program is that kernel: no compiler is needed, and no instruction that callgrind does not know.
class OneKernelBuilder final : public ProgramBuilder {
public:
  [[nodiscard]] std::string name() const override { return "one kernel"; }
  void build(BuildRequest, std::function<void(BuildResult)> done) override {
    BuildResult result;
    result.binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    result.info = program_info();
    result.program = std::make_shared<OneKernel>(result.info);
    done(std::move(result));
  }
};

/// Never taken down: the driver's session lives for ever.
struct Server {
  Server() : shared(1, nullptr) {
    CpuOptions options;
    options.memory_bytes = 64u << 20;
    device = std::make_unique<CpuDevice>(cpu_device_info(options), builder, shared);
    SessionConfig config;
    config.parts.limits.memory_bytes = options.memory_bytes;
    config.parts.devices = {device.get()};
    config.parts.host_name = "here";
    config.parts.version = "0";
    config.id[0] = 1;
    session = std::make_unique<Session>(std::move(config));
    std::thread([this] { (void)session->run(); }).detach();
  }
  Result<net::Connection> connect() {
    auto [near, far] = net::make_loopback();
    Attachment attachment;
    attachment.transport = std::move(far);
    session->attach(std::move(attachment));
    protocol::HelloReplyBytes bytes{};
    for (std::size_t at = 0; at < bytes.size();) {
      auto got = near->receive(MutableBytes(bytes).subspan(at));
      if (!got) {
        return pass_on(std::move(got));
      }
      at += *got;
      if (*got == 0) {
        near->wait(net::Interest::kReadable, std::chrono::seconds(1), nullptr);
      }
    }
    auto reply = protocol::decode_hello_reply(bytes);
    if (!reply) {
      return pass_on(std::move(reply));
    }
    return net::Connection{std::move(near), *reply};
  }

  OneKernelBuilder builder;
  CpuShared shared;
  std::unique_ptr<CpuDevice> device;
  std::unique_ptr<Session> session;
};

struct Client {
  const cl_icd_dispatch& api = driver::kDispatchTable;
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  cl_mem counter = nullptr;

  Client() {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    const char* source = "any";
    const cl_uint zero = 0;
    check(api.clGetPlatformIDs(1, &platform, nullptr), "no platform");
    check(api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "no device");
    cl_context context = api.clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue = api.clCreateCommandQueue(context, device, 0, nullptr);
    cl_program program = api.clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
    check(api.clBuildProgram(program, 1, &device, nullptr, nullptr, nullptr), "the program does not build");
    kernel = api.clCreateKernel(program, "add", nullptr);
    counter = api.clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof zero, nullptr, nullptr);
    check(queue != nullptr && kernel != nullptr && counter != nullptr, "an object could not be made");
    check(api.clEnqueueWriteBuffer(queue, counter, CL_TRUE, 0, sizeof zero, &zero, 0, nullptr, nullptr), "no write");
    check(api.clSetKernelArg(kernel, 0, sizeof counter, &counter), "no buffer argument");
  }
  cl_uint read() const {
    cl_uint value = 0;
    check(api.clEnqueueReadBuffer(queue, counter, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr), "no read");
    return value;
  }
};

} // namespace

/// What callgrind looks for on the client's side.
[[gnu::noinline]] cl_uint enqueue_launches(const cl_icd_dispatch& api, cl_command_queue queue, cl_kernel kernel) {
  const std::size_t one = 1;
  cl_uint expected = 0;
  for (cl_uint amount = 1; amount <= kLaunches; ++amount) {
    check(api.clSetKernelArg(kernel, 1, sizeof amount, &amount), "no value argument");
    check(api.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr), "no launch");
    expected += amount;
  }
  return expected;
}

int run_counted() {
  auto& server = *new Server();
  Config config;
  config.servers = "127.0.0.1";
  config.spin_us = 0;
  driver::Runtime::instance().reset_for_tests(config, [&server](const net::ServerAddress&, const Config&) -> net::Connector {
    return [&server](const protocol::Hello&) { return server.connect(); };
  });
  const Client client;
  standing_ns = real_ns(CLOCK_MONOTONIC);
  clock_stands = true;
  const cl_uint expected = enqueue_launches(client.api, client.queue, client.kernel);
  clock_stands = false;
  check(client.read() == expected, "the counter is wrong");
  std::printf("%u launches\n", kLaunches);
  std::fflush(stdout);
  return 0;
}

} // namespace farcl::daemon

int main() { std::_Exit(farcl::daemon::run_counted()); } // threads still run
