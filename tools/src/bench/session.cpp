#include "session.hpp"

#include <array>
#include <vector>

namespace farcl::tools::bench {

namespace {
constexpr const char* kSource = "__kernel void empty(void) {}\n"
                                "__kernel void add(__global uint *counter, uint amount) { counter[0] += amount; }\n";

std::string platform_name(cl_platform_id platform) {
  std::array<char, 256> name{};
  check(clGetPlatformInfo(platform, CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr), "clGetPlatformInfo");
  return name.data();
}

cl_device_id find_device(const std::string& wanted) {
  cl_uint count = 0;
  check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  for (cl_platform_id platform : platforms) {
    cl_device_id device = nullptr;
    if (platform_name(platform).find(wanted) != std::string::npos &&
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) {
      return device;
    }
  }
  throw BenchFailure("no OpenCL device" + (wanted.empty() ? std::string() : " on a platform named \"" + wanted + "\""));
}
} // namespace

void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS) {
    throw BenchFailure(std::string(what) + " failed with " + std::to_string(status));
  }
}

cl_program build_program(cl_context context, cl_device_id device, const std::string& source) {
  cl_int status = CL_SUCCESS;
  const char* text = source.c_str();
  cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  status = clBuildProgram(program, 1, &device, "", nullptr, nullptr);
  if (status != CL_SUCCESS) {
    std::array<char, 4096> log{};
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
    throw BenchFailure("clBuildProgram failed with " + std::to_string(status) + ": " + log.data());
  }
  return program;
}

Session::Session(const std::string& platform) : device(find_device(platform)) {
  std::array<char, 256> name{};
  clGetDeviceInfo(device, CL_DEVICE_NAME, name.size() - 1, name.data(), nullptr);
  device_name = name.data();
  cl_int status = CL_SUCCESS;
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue");
  out_of_order = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
  if (status != CL_SUCCESS) {
    out_of_order = nullptr;
  }
  program = build_program(context, device, kSource);
  empty = clCreateKernel(program, "empty", &status);
  check(status, "clCreateKernel");
  add = clCreateKernel(program, "add", &status);
  check(status, "clCreateKernel");
  cl_uint zero = 0;
  counter = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zero, &zero, &status);
  check(status, "clCreateBuffer");
  check(clSetKernelArg(add, 0, sizeof counter, &counter), "clSetKernelArg");
}

Session::~Session() {
  clReleaseMemObject(counter);
  clReleaseKernel(add);
  clReleaseKernel(empty);
  clReleaseProgram(program);
  if (out_of_order != nullptr) {
    clReleaseCommandQueue(out_of_order);
  }
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
}

void Session::launch(cl_command_queue on, cl_kernel kernel, cl_uint wait_count, const cl_event* wait, cl_event* event) const {
  const std::size_t one = 1;
  check(clEnqueueNDRangeKernel(on, kernel, 1, nullptr, &one, &one, wait_count, wait, event), "clEnqueueNDRangeKernel");
}

void Session::set_amount(cl_uint amount) const { check(clSetKernelArg(add, 1, sizeof amount, &amount), "clSetKernelArg"); }

cl_uint Session::read_counter() const {
  cl_uint value = 0;
  check(clEnqueueReadBuffer(queue, counter, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr), "clEnqueueReadBuffer");
  return value;
}

void compute_first_result(const std::string& platform) {
  constexpr cl_uint kAmount = 42;
  const Session session(platform);
  session.set_amount(kAmount);
  session.launch(session.queue, session.add);
  if (session.read_counter() != kAmount) {
    throw BenchFailure("the first result is wrong");
  }
}

} // namespace farcl::tools::bench
