// Round trips, seen from outside: through a relay that adds 20 ms to each, a call whose allowance is k (driver/icd/api_list.def)
// takes at most (k + 0.5) x 20 ms. This is the median of some calls: the machine may be busy. Sanitizers make the work between the
// round trips several times longer, so there they take longer too.
#include "support/child_program.hpp"
#include "support/private_server.hpp"
#include "tests/sanitizer.hpp"

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <numeric>

namespace farcl::end_to_end {
namespace {

using Clock = std::chrono::steady_clock;
const double kRoundTripMs = test::is_sanitized() ? 60 : 20;
constexpr int kRepetitions = 5;

const std::map<std::string, int>& allowances() {
  static const std::map<std::string, int> kAllowances = {
#define FARCL_ENTRY(name, round_trips, ...) {#name, round_trips},
#define FARCL_ABSENT(name, ...)
#include "driver/icd/api_list.def"
  };
  return kAllowances;
}

double milliseconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The relay, as a program of its own: it must not share a process with what it delays.
class Relay {
public:
  explicit Relay(const std::string& target) : program_({FARCL_DELAY_RELAY, target, std::to_string(kRoundTripMs / 2)}, "") {
    EXPECT_TRUE(program_.wait_for_output("\n", std::chrono::seconds(5)));
    address_ = program_.output().substr(0, program_.output().find('\n'));
  }
  [[nodiscard]] const std::string& address() const { return address_; }

private:
  ChildProgram program_;
  std::string address_;
};

class RoundTrips : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<PrivateServer>();
    relay_ = std::make_unique<Relay>(server_->tcp_address());
    ::setenv("POCL_REMOTE_SERVERS", relay_->address().c_str(), 1);
    ::setenv("OCL_ICD_VENDORS", FARCL_VENDORS_PATH, 1);
    ASSERT_EQ(clGetPlatformIDs(1, &platform_, nullptr), CL_SUCCESS);
    ASSERT_EQ(clGetDeviceIDs(platform_, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr), CL_SUCCESS);
    cl_int status = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
    queue_ = clCreateCommandQueue(context_, device_, 0, &status);
    ASSERT_EQ(status, CL_SUCCESS);
    const char* source = "__kernel void inc(__global int *x) { x[get_global_id(0)] += 1; }";
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &status);
    ASSERT_EQ(clBuildProgram(program_, 1, &device_, "", nullptr, nullptr), CL_SUCCESS);
    kernel_ = clCreateKernel(program_, "inc", &status);
    buffer_ = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes_.size(), bytes_.data(), &status);
    ASSERT_EQ(clSetKernelArg(kernel_, 0, sizeof buffer_, &buffer_), CL_SUCCESS);
    ASSERT_EQ(clFinish(queue_), CL_SUCCESS);
  }
  static void TearDownTestSuite() {
    relay_.reset();
    server_.reset();
  }

  // `name` is what the allowance stands under; `allowed` replaces it where the call at hand is one of the cheaper ones.
  static void measure(const std::string& name, const std::function<cl_int()>& call, const std::function<void()>& before = {},
                      int allowed = -1) {
    ASSERT_TRUE(allowances().contains(name)) << name;
    allowed = allowed < 0 ? allowances().at(name) : allowed;
    std::vector<double> times;
    for (int i = 0; i < kRepetitions; ++i) {
      if (before) {
        before();
      }
      times.push_back(milliseconds([&] { EXPECT_EQ(call(), CL_SUCCESS) << name; }));
    }
    std::nth_element(times.begin(), times.begin() + kRepetitions / 2, times.end());
    EXPECT_LE(times[kRepetitions / 2], (allowed + 0.5) * kRoundTripMs) << name << ", allowance " << allowed;
  }
  static cl_int launch(cl_event* event = nullptr) {
    const std::size_t one = 1;
    return clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &one, nullptr, 0, nullptr, event);
  }
  static void settle() { EXPECT_EQ(clFinish(queue_), CL_SUCCESS); }

  static inline std::unique_ptr<PrivateServer> server_;
  static inline std::unique_ptr<Relay> relay_;
  static inline cl_platform_id platform_ = nullptr;
  static inline cl_device_id device_ = nullptr;
  static inline cl_context context_ = nullptr;
  static inline cl_command_queue queue_ = nullptr;
  static inline cl_program program_ = nullptr;
  static inline cl_kernel kernel_ = nullptr;
  static inline cl_mem buffer_ = nullptr;
  static inline std::vector<char> bytes_ = std::vector<char>(4096, 0);
};

TEST_F(RoundTrips, TheRelayDelays) {
  // If this does not hold, the others say nothing.
  EXPECT_GE(milliseconds([] {
              launch();
              settle();
            }),
            kRoundTripMs * 0.95);
}

TEST_F(RoundTrips, ConnectingTakesTwo) {
  // A process connects once, so these are new ones. The least counts: the server starts a process for each, and that takes as
  // long as it takes.
  double least = 1e9;
  for (int i = 0; i < kRepetitions; ++i) {
    const ProgramEnd end = run_program(client("look-around"), relay_->address(), std::chrono::seconds(10));
    const auto after = end.out.find("after ");
    ASSERT_NE(after, std::string::npos) << end.out;
    ASSERT_EQ(end.out.find("devices 1"), 0U) << end.out;
    least = std::min(least, std::atof(end.out.c_str() + after + 6));
  }
  EXPECT_GE(least, kRoundTripMs * 0.95);
  EXPECT_LE(least, (allowances().at("clGetPlatformIDs") + 0.5) * kRoundTripMs);
}

TEST_F(RoundTrips, Queries) {
  std::array<char, 1024> text;
  measure("clGetDeviceInfo", [&] { return clGetDeviceInfo(device_, CL_DEVICE_NAME, text.size(), text.data(), nullptr); });
  measure("clGetPlatformInfo", [&] { return clGetPlatformInfo(platform_, CL_PLATFORM_VERSION, text.size(), text.data(), nullptr); });
  measure("clGetKernelInfo", [&] { return clGetKernelInfo(kernel_, CL_KERNEL_FUNCTION_NAME, text.size(), text.data(), nullptr); });
  measure("clGetKernelArgInfo", [&] {
    const cl_int status = clGetKernelArgInfo(kernel_, 0, CL_KERNEL_ARG_NAME, text.size(), text.data(), nullptr);
    return status == CL_KERNEL_ARG_INFO_NOT_AVAILABLE ? CL_SUCCESS : status;
  });
  measure("clGetKernelWorkGroupInfo",
          [&] { return clGetKernelWorkGroupInfo(kernel_, device_, CL_KERNEL_WORK_GROUP_SIZE, text.size(), text.data(), nullptr); });
  measure("clGetProgramBuildInfo",
          [&] { return clGetProgramBuildInfo(program_, device_, CL_PROGRAM_BUILD_LOG, text.size(), text.data(), nullptr); });
  measure("clGetMemObjectInfo", [&] { return clGetMemObjectInfo(buffer_, CL_MEM_SIZE, text.size(), text.data(), nullptr); });
}

TEST_F(RoundTrips, CreatingAndReleasing) {
  cl_int status = 0;
  measure("clCreateContext", [&] {
    cl_context context = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
    return status != CL_SUCCESS ? status : clReleaseContext(context);
  });
  measure("clCreateCommandQueue", [&] {
    cl_command_queue queue = clCreateCommandQueue(context_, device_, 0, &status);
    return status != CL_SUCCESS ? status : clReleaseCommandQueue(queue);
  });
  measure("clCreateBuffer", [&] {
    cl_mem buffer = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes_.size(), bytes_.data(), &status);
    return status != CL_SUCCESS ? status : clReleaseMemObject(buffer);
  });
  measure("clCreateKernel", [&] {
    cl_kernel kernel = clCreateKernel(program_, "inc", &status);
    return status != CL_SUCCESS ? status : clReleaseKernel(kernel);
  });
  measure("clCreateUserEvent", [&] {
    cl_event event = clCreateUserEvent(context_, &status);
    clSetUserEventStatus(event, CL_COMPLETE);
    return status != CL_SUCCESS ? status : clReleaseEvent(event);
  });
  settle();
}

TEST_F(RoundTrips, BuildingWhatIsKnownTakesOne) {
  cl_int status = 0;
  const std::string small = "__kernel void f(__global int *x) { x[0] = 7; }";
  const std::string large = small + "//" + std::string(256 << 10, 'x'); // does not travel a second time
  for (const std::string& source : {small, large}) {
    measure(
        "clBuildProgram",
        [&] { // the same program each time: known from the second time on
          const char* text = source.c_str();
          cl_program program = clCreateProgramWithSource(context_, 1, &text, nullptr, &status);
          status = clBuildProgram(program, 1, &device_, "", nullptr, nullptr);
          clReleaseProgram(program);
          return status;
        },
        {}, 1);
  }
}

TEST_F(RoundTrips, EnqueueingWaitsForNothing) {
  measure("clEnqueueNDRangeKernel", [] { return launch(); });
  measure("clSetKernelArg", [] { return clSetKernelArg(kernel_, 0, sizeof buffer_, &buffer_); });
  measure("clFlush", [] { return clFlush(queue_); }, [] { launch(); });
  measure("clEnqueueFillBuffer", [] {
    const int zero = 0;
    return clEnqueueFillBuffer(queue_, buffer_, &zero, 4, 0, 4096, 0, nullptr, nullptr);
  });
  measure("clEnqueueMarkerWithWaitList", [] { return clEnqueueMarkerWithWaitList(queue_, 0, nullptr, nullptr); });
  measure(
      "clEnqueueWriteBuffer", [] { return clEnqueueWriteBuffer(queue_, buffer_, CL_TRUE, 0, 4096, bytes_.data(), 0, nullptr, nullptr); },
      {}, 0);
  measure(
      "clEnqueueReadBuffer", [] { return clEnqueueReadBuffer(queue_, buffer_, CL_FALSE, 0, 4096, bytes_.data(), 0, nullptr, nullptr); }, {},
      0);
  settle();
}

TEST_F(RoundTrips, WaitingTakesOne) {
  measure("clFinish", [] { return clFinish(queue_); }, [] { launch(); });
  measure(
      "clEnqueueReadBuffer", [] { return clEnqueueReadBuffer(queue_, buffer_, CL_TRUE, 0, 4096, bytes_.data(), 0, nullptr, nullptr); },
      [] { launch(); });
  cl_event event = nullptr;
  measure(
      "clWaitForEvents",
      [&] {
        const cl_int status = clWaitForEvents(1, &event);
        clReleaseEvent(event);
        return status;
      },
      [&] { launch(&event); });
  std::vector<char> large(1 << 20, 1);
  cl_int status = 0;
  cl_mem buffer = clCreateBuffer(context_, CL_MEM_READ_WRITE, large.size(), nullptr, &status);
  measure("clEnqueueWriteBuffer",
          [&] { return clEnqueueWriteBuffer(queue_, buffer, CL_TRUE, 0, large.size(), large.data(), 0, nullptr, nullptr); });
  void* mapped = nullptr;
  measure(
      "clEnqueueMapBuffer",
      [&] {
        mapped = clEnqueueMapBuffer(queue_, buffer_, CL_TRUE, CL_MAP_READ, 0, 4096, 0, nullptr, nullptr, &status);
        return status;
      },
      [&] {
        if (mapped != nullptr) {
          clEnqueueUnmapMemObject(queue_, buffer_, mapped, 0, nullptr, nullptr);
        }
        launch();
      });
  clEnqueueUnmapMemObject(queue_, buffer_, mapped, 0, nullptr, nullptr);
  clReleaseMemObject(buffer);
  settle();
}

TEST_F(RoundTrips, ManyKernelsInOrderTakeOne) {
  std::vector<double> times;
  for (int i = 0; i < kRepetitions; ++i) {
    times.push_back(milliseconds([] {
      for (int k = 0; k < 100; ++k) {
        launch();
      }
      settle();
    }));
  }
  std::nth_element(times.begin(), times.begin() + kRepetitions / 2, times.end());
  EXPECT_LE(times[kRepetitions / 2], 1.5 * kRoundTripMs);
}

TEST_F(RoundTrips, AChainOfEventsOnTheServerTakesOne) {
  cl_int status = 0;
  cl_command_queue queue = clCreateCommandQueue(context_, device_, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
  ASSERT_EQ(status, CL_SUCCESS);
  const double time = milliseconds([&] {
    const std::size_t one = 1;
    std::vector<cl_event> events(50);
    for (std::size_t k = 0; k < events.size(); ++k) {
      EXPECT_EQ(
          clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &one, nullptr, k > 0 ? 1 : 0, k > 0 ? &events[k - 1] : nullptr, &events[k]),
          CL_SUCCESS);
    }
    EXPECT_EQ(clWaitForEvents(1, &events.back()), CL_SUCCESS);
    std::for_each(events.begin(), events.end(), clReleaseEvent);
  });
  EXPECT_LE(time, 1.5 * kRoundTripMs);
  clReleaseCommandQueue(queue);
}

} // namespace
} // namespace farcl::end_to_end
