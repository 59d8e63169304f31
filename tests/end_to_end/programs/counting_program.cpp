// Many small kernels whose order matters, counted: x = x * 3 + k with a new k each time, and every result is checked.
//
//   counting_program THREADS START_MS DURATION_MS
//
// Each thread has a queue, a kernel and a buffer of its own, on one device. They begin together at START_MS of CLOCK_MONOTONIC (0: as soon
// as they can); a program that was not ready in time says "late". Afterwards one line per thread: "count N". DURATION_MS 0: one round, then
// "idle", and everything stays open until the program is ended.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kSource = "__kernel void advance(__global uint *x, uint k) { x[0] = x[0] * 3 + k; }";
constexpr int kKernelsPerRound = 100;

struct Worker {
  Worker(const cl::Context& context, const cl::Device& device, const cl::Program& program)
      : queue(context, device), kernel(program, "advance"), buffer(context, CL_MEM_READ_WRITE, sizeof(cl_uint)) {
    const cl_uint zero = 0;
    queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, sizeof zero, &zero);
    kernel.setArg(0, buffer);
  }

  /// True if the value is what these kernels make of it, all of them, once, in this order.
  bool round() {
    for (int i = 0; i < kKernelsPerRound; ++i) {
      const cl_uint k = next++;
      kernel.setArg(1, k);
      queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
      expected = expected * 3 + k;
    }
    cl_uint value = 0;
    queue.enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof value, &value);
    count += kKernelsPerRound;
    return value == expected;
  }

  cl::CommandQueue queue;
  cl::Kernel kernel;
  cl::Buffer buffer;
  cl_uint expected = 0;
  cl_uint next = 1;
  unsigned long count = 0;
  bool right = true;
};

int run(unsigned threads, milliseconds start, milliseconds duration) {
  const cl::Device device = cl::Device::getDefault();
  const cl::Context context(device);
  cl::Program program(context, kSource);
  program.build();
  std::vector<Worker> workers;
  for (unsigned i = 0; i < threads; ++i) {
    workers.emplace_back(context, device, program);
    workers.back().right = workers.back().round();
    workers.back().count = 0;
  }
  if (duration.count() == 0) {
    std::puts(workers[0].right ? "idle" : "WRONG");
    std::fflush(stdout);
    ::pause();
  }
  const Clock::time_point begin = start.count() != 0 ? Clock::time_point(start) : Clock::now();
  if (Clock::now() > begin + milliseconds(1) && start.count() != 0) {
    std::puts("late");
  }
  std::puts("started");
  std::fflush(stdout);
  std::vector<std::thread> running;
  for (Worker& worker : workers) {
    running.emplace_back([&worker, begin, end = begin + duration] {
      std::this_thread::sleep_until(begin);
      while (Clock::now() < end && worker.right) {
        worker.right = worker.round();
      }
    });
  }
  bool right = true;
  for (unsigned i = 0; i < threads; ++i) {
    running[i].join();
    std::printf("count %lu\n", workers[i].count);
    right = right && workers[i].right;
  }
  std::puts(right ? "right" : "WRONG");
  return right ? 0 : 1;
}
} // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "counting_program THREADS START_MS DURATION_MS\n");
    return 2;
  }
  try {
    return run(static_cast<unsigned>(std::atoi(argv[1])), milliseconds(std::atoll(argv[2])), milliseconds(std::atoll(argv[3])));
  } catch (const cl::Error& error) {
    std::printf("unexpected error %d from %s\n", error.err(), error.what());
    return 4;
  }
}
