// The OpenCL program of the tests of links: plain OpenCL 1.2, run in a namespace behind an emulated link.
//
//   link_program calls                          1,000 calls, one of them a blocking read
//   link_program first-result                   from nothing to the result of a kernel
//   link_program busy-link up|down SECONDS      small commands on one queue, bulk on another
//   link_program bulk up|down MIB               one large transfer after a short one
//   link_program exchange SECONDS               transfers of all sizes both ways, every byte checked
//
// Prints "name value" lines. Ends with 0 when all values were right.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {
using Clock = std::chrono::steady_clock;

constexpr const char* kSource = R"(
__kernel void nothing() {}
__kernel void add(__global uint *x, uint a, uint b) { x[0] += a * b; }
__kernel void turn(__global uint *x, uint n) { for (uint i = 0; i < n; ++i) x[i] = ~x[i]; }
)";

double milliseconds_since(Clock::time_point begin) { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); }
double milliseconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return milliseconds_since(begin);
}
void say(const char* name, double value) {
  std::printf("%s %.3f\n", name, value);
  std::fflush(stdout);
}
double part(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values.at(std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size()))));
}

struct Setup {
  Setup() : device(first_device()), context(device), queue(context, device), program(context, kSource) { program.build(); }
  static cl::Device first_device() {
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    std::vector<cl::Device> devices;
    platforms.at(0).getDevices(CL_DEVICE_TYPE_ALL, &devices);
    return devices.at(0);
  }
  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
  cl::Program program;
};

// 1 + 1 + 70 + 1 creates, 600 arguments, 300 kernels, 20 writes, 1 read: with the few calls around them about 1,000.
int calls() {
  const Setup setup; // connects and builds: the program that is measured starts with what it has
  std::vector<cl_uint> values(256, 7);
  cl_uint expected = 0;
  cl_uint result = 0;
  const double took = milliseconds([&] {
    const cl::CommandQueue queue(setup.context, setup.device);
    cl::Kernel kernel(setup.program, "add");
    std::vector<cl::Buffer> buffers;
    for (int i = 0; i < 70; ++i) {
      buffers.emplace_back(setup.context, CL_MEM_READ_WRITE, values.size() * 4);
    }
    for (int i = 0; i < 20; ++i) {
      queue.enqueueWriteBuffer(buffers[static_cast<std::size_t>(i)], CL_FALSE, 0, values.size() * 4, values.data());
    }
    expected = 7;
    kernel.setArg(0, buffers[3]);
    for (cl_uint i = 0; i < 300; ++i) {
      kernel.setArg(1, i);
      kernel.setArg(2, i + 1);
      queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
      expected += i * (i + 1);
    }
    queue.enqueueReadBuffer(buffers[3], CL_TRUE, 0, 4, &result);
  });
  say("milliseconds", took);
  return result == expected ? 0 : 1;
}

int first_result() {
  cl_uint result = 20;
  const double took = milliseconds([&] {
    const Setup setup;
    const cl::Buffer buffer(setup.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, std::size_t{4}, &result);
    cl::Kernel kernel(setup.program, "add");
    kernel.setArg(0, buffer);
    kernel.setArg(1, cl_uint(3));
    kernel.setArg(2, cl_uint(4));
    setup.queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    setup.queue.enqueueReadBuffer(buffer, CL_TRUE, 0, 4, &result);
  });
  say("milliseconds", took);
  return result == 32 ? 0 : 1;
}

std::vector<double> empty_kernels(const Setup& setup, double for_ms) {
  const cl::Kernel kernel(setup.program, "nothing");
  std::vector<double> times;
  for (const auto begin = Clock::now(); milliseconds_since(begin) < for_ms;) {
    times.push_back(milliseconds([&] {
      setup.queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
      setup.queue.finish();
    }));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return times;
}

int busy_link(bool up, double seconds) {
  constexpr std::size_t kPieceBytes = 8u << 20;
  const Setup setup;
  const std::vector<double> alone = empty_kernels(setup, 1000);
  const cl::CommandQueue bulk_queue(setup.context, setup.device);
  const cl::Buffer buffer(setup.context, CL_MEM_READ_WRITE, kPieceBytes);
  std::vector<char> memory(kPieceBytes, 1);
  std::atomic<bool> stop{false};
  std::atomic<double> bulk_bytes{0};
  std::atomic<double> bulk_seconds{0};
  std::thread bulk([&] {
    const auto begin = Clock::now();
    while (!stop) {
      up ? bulk_queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, kPieceBytes, memory.data())
         : bulk_queue.enqueueReadBuffer(buffer, CL_TRUE, 0, kPieceBytes, memory.data());
      bulk_bytes = bulk_bytes + kPieceBytes;
      bulk_seconds = milliseconds_since(begin) / 1000;
    }
  });
  const std::vector<double> beside = empty_kernels(setup, seconds * 1000);
  stop = true;
  bulk.join();
  say("alone_median_ms", part(alone, 0.5));
  say("beside_median_ms", part(beside, 0.5));
  say("beside_p90_ms", part(beside, 0.9));
  say("beside_p99_ms", part(beside, 0.99));
  say("beside_max_ms", part(beside, 1));
  say("megabits_per_second", bulk_bytes * 8e-6 / bulk_seconds);
  return 0;
}

int bulk(bool up, double mebibytes) {
  const Setup setup;
  const auto size = static_cast<std::size_t>(mebibytes * (1u << 20));
  const cl::Buffer buffer(setup.context, CL_MEM_READ_WRITE, size);
  std::vector<cl_uint> memory(size / 4);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory[i] = static_cast<cl_uint>(i * 2654435761u);
  }
  const auto move = [&](std::vector<cl_uint>& host, bool to_server) {
    to_server ? setup.queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, size, host.data())
              : setup.queue.enqueueReadBuffer(buffer, CL_TRUE, 0, size, host.data());
    setup.queue.finish();
  };
  std::vector<cl_uint> back(size / 4);
  const double up_ms = milliseconds([&] { move(memory, true); });
  const double down_ms = milliseconds([&] { move(back, false); });
  // The second time the link is known.
  const double again_ms = milliseconds([&] { move(up ? memory : back, up); });
  const double bits = static_cast<double>(size) * 8e-3;
  say("first_megabits_per_second", bits / (up ? up_ms : down_ms));
  say("megabits_per_second", bits / again_ms);
  return back == memory ? 0 : 1;
}

int exchange(double seconds) {
  constexpr std::size_t kWords = 1u << 20;
  const Setup setup;
  const cl::Buffer buffer(setup.context, CL_MEM_READ_WRITE, kWords * 4);
  cl::Kernel kernel(setup.program, "turn");
  kernel.setArg(0, buffer);
  std::vector<cl_uint> model(kWords, 0);
  setup.queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, kWords * 4, model.data());
  std::mt19937 random(5);
  std::vector<cl_uint> host(kWords);
  double rounds = 0;
  bool right = true;
  for (const auto begin = Clock::now(); milliseconds_since(begin) < seconds * 1000 && right; ++rounds) {
    const std::size_t size = std::size_t{1} << (random() % 21);
    const std::size_t at = random() % (kWords - size + 1);
    for (std::size_t i = 0; i < size; ++i) {
      model[at + i] = host[i] = static_cast<cl_uint>(random());
    }
    setup.queue.enqueueWriteBuffer(buffer, CL_FALSE, at * 4, size * 4, host.data());
    const cl_uint turned = random() % 5000;
    kernel.setArg(1, turned);
    setup.queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    std::for_each_n(model.begin(), turned, [](cl_uint& word) { word = ~word; });
    setup.queue.finish();
    const std::size_t from = random() % (kWords - size + 1);
    setup.queue.enqueueReadBuffer(buffer, CL_TRUE, from * 4, size * 4, host.data());
    right = std::memcmp(host.data(), model.data() + from, size * 4) == 0;
  }
  say("rounds", rounds);
  return right ? 0 : 1;
}

int run(const std::vector<std::string>& words) {
  const auto number = [&](std::size_t at) { return std::stod(words.at(at)); };
  const std::string& mode = words.at(0);
  return mode == "calls"          ? calls()
         : mode == "first-result" ? first_result()
         : mode == "busy-link"    ? busy_link(words.at(1) == "up", number(2))
         : mode == "bulk"         ? bulk(words.at(1) == "up", number(2))
         : mode == "exchange"     ? exchange(number(1))
                                  : 2;
}
} // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& failure) {
    std::printf("failed: %s\n", failure.what());
    return 3;
  }
}
