// hello: every device says hello, in C++ with CL/opencl.hpp. The kernel's printf arrives on this program's stdout.
//
//   c++ hello.cpp -o hello -lOpenCL
//   POCL_REMOTE_SERVERS=host1,host2 ./hello
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {
constexpr const char* kSource = R"cl(
__kernel void hello(__global int *numbers) {
  size_t i = get_global_id(0);
  numbers[i] = numbers[i] * numbers[i];
  if (i == 0)
    printf("hello from work-item %d of %d\n", (int)i, (int)get_global_size(0));
}
)cl";

// The squares of 0 to 15, computed on `device`. True when they are right.
bool greet(const cl::Device& device) {
  std::printf("%s\n", device.getInfo<CL_DEVICE_NAME>().c_str());
  std::fflush(stdout);
  const cl::Context context(device);
  cl::CommandQueue queue(context, device);
  cl::Program program(context, kSource);
  program.build();
  std::vector<int> numbers(16);
  std::iota(numbers.begin(), numbers.end(), 0);
  const cl::Buffer buffer(queue, numbers.begin(), numbers.end(), false);
  cl::KernelFunctor<cl::Buffer> hello(program, "hello");
  hello(cl::EnqueueArgs(queue, cl::NDRange(numbers.size())), buffer);
  cl::copy(queue, buffer, numbers.begin(), numbers.end());
  for (int i = 0; i < static_cast<int>(numbers.size()); ++i) {
    if (numbers[static_cast<std::size_t>(i)] != i * i) {
      return false;
    }
  }
  return true;
}
} // namespace

int main() {
  try {
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    for (const cl::Platform& platform : platforms) {
      std::vector<cl::Device> devices;
      platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
      for (const cl::Device& device : devices) {
        if (!greet(device)) {
          std::fprintf(stderr, "hello: wrong results\n");
          return 1;
        }
      }
    }
  } catch (const cl::Error& error) {
    std::fprintf(stderr, "hello: %s failed with %d\n", error.what(), error.err());
    return 1;
  }
  return 0;
}
