// One large transfer each way, and what it costs this process beside the data.
//
//   large_program BYTES
//
// Writes an array in one call, lets a kernel change every word, reads it back in one call, and checks it. Prints "beyond N", the KiB by
// which the peak of this process's memory grew beyond the array, then stays until it is ended.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {
constexpr const char* kSource = "__kernel void change(__global ulong *x, ulong k) { x[get_global_id(0)] ^= k; }";
constexpr cl_ulong kChange = 0x5555aaaa12345678;

cl_ulong word_at(std::size_t i) { return (i + 1) * 0x9e3779b97f4a7c15; }

long peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (long kib = 0; word == "VmHWM:" && status >> kib) {
      return kib;
    }
  }
  return -1;
}

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int run(std::size_t bytes) {
  const cl::Device device = cl::Device::getDefault();
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  cl::Program program(context, kSource);
  program.build();
  cl::Kernel kernel(program, "change");
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE, bytes);
  kernel.setArg(0, buffer);
  kernel.setArg(1, kChange);
  queue.finish();
  const long before = peak_kib();

  std::vector<cl_ulong> words(bytes / sizeof(cl_ulong));
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = word_at(i);
  }
  const double write = seconds_of([&] { queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, words.data()); });
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(words.size()));
  queue.finish();
  const double read = seconds_of([&] { queue.enqueueReadBuffer(buffer, CL_TRUE, 0, bytes, words.data()); });
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    wrong += words[i] != (word_at(i) ^ kChange) ? 1 : 0;
  }
  const double gb = static_cast<double>(bytes) / 1e9;
  std::printf("%.2f GB written at %.2f GB/s, read at %.2f GB/s, %zu words wrong\n", gb, gb / write, gb / read, wrong);
  std::printf("beyond %ld\n", peak_kib() - before - static_cast<long>(bytes >> 10));
  std::fflush(stdout);
  ::pause();
  return 0;
}
} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "large_program BYTES\n");
    return 2;
  }
  try {
    return run(std::strtoull(argv[1], nullptr, 10) / 8 * 8);
  } catch (const cl::Error& error) {
    std::printf("unexpected error %d from %s\n", error.err(), error.what());
    return 4;
  }
}
