#include "fixture.hpp"

#include "driver/session/callback_thread.hpp"

#include <thread>

namespace farcl::test {

bool eventually(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

Client::Client(cl_command_queue_properties queue_properties) {
  cl_int code = 0;
  EXPECT_EQ(api.clGetPlatformIDs(1, &platform, nullptr), CL_SUCCESS);
  EXPECT_EQ(api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), CL_SUCCESS);
  context = api.clCreateContext(nullptr, 1, &device, on_notify, this, &code);
  EXPECT_EQ(code, CL_SUCCESS);
  queue = api.clCreateCommandQueue(context, device, queue_properties, &code);
  EXPECT_EQ(code, CL_SUCCESS);
  const char* source = "kernel void bump(global uint* words, uint amount) { words[get_global_id(0)] += amount; }";
  program = api.clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  EXPECT_EQ(api.clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
  kernel = api.clCreateKernel(program, "bump", &code);
  EXPECT_EQ(code, CL_SUCCESS);
}

Client::~Client() {
  for (cl_mem one : buffers_) {
    EXPECT_EQ(api.clReleaseMemObject(one), CL_SUCCESS);
  }
  EXPECT_EQ(api.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseProgram(program), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseCommandQueue(queue), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseContext(context), CL_SUCCESS);
  driver::wait_for_callbacks(); // which may hold references and call back into this object
}

cl_mem Client::buffer(std::size_t size, cl_mem_flags flags, void* host_ptr) {
  cl_int code = 0;
  cl_mem made = api.clCreateBuffer(context, flags, size, host_ptr, &code);
  EXPECT_EQ(code, CL_SUCCESS);
  buffers_.push_back(made);
  return made;
}

cl_event Client::write(cl_mem buffer, const void* data, std::size_t size, bool blocking, std::vector<cl_event> after) {
  cl_event event = nullptr;
  EXPECT_EQ(api.clEnqueueWriteBuffer(queue, buffer, blocking ? CL_TRUE : CL_FALSE, 0, size, data, static_cast<cl_uint>(after.size()),
                                     after.empty() ? nullptr : after.data(), blocking ? nullptr : &event),
            CL_SUCCESS);
  return event;
}

std::vector<std::uint32_t> Client::read(cl_mem buffer, std::size_t words) {
  std::vector<std::uint32_t> out(words, 0xffffffff);
  EXPECT_EQ(api.clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, words * 4, out.data(), 0, nullptr, nullptr), CL_SUCCESS);
  return out;
}

void Client::bump(cl_mem buffer, std::uint32_t amount, std::vector<cl_event> after, cl_event* event) {
  EXPECT_EQ(api.clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  EXPECT_EQ(api.clSetKernelArg(kernel, 1, sizeof amount, &amount), CL_SUCCESS);
  const std::size_t size = 1;
  EXPECT_EQ(api.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &size, nullptr, static_cast<cl_uint>(after.size()),
                                       after.empty() ? nullptr : after.data(), event),
            CL_SUCCESS);
}

std::vector<std::string> Client::sentences() {
  driver::wait_for_callbacks();
  return *sentences_.lock();
}

void CL_CALLBACK Client::on_notify(const char* sentence, const void*, std::size_t, void* self) {
  static_cast<Client*>(self)->sentences_.lock()->emplace_back(sentence);
}

} // namespace farcl::test
