// Builds beside other work: they delay nobody's small commands, two of them run side by side, and what one program has built is
// known to the next one. Times are compared with each other.
#include "support/child_program.hpp"
#include "support/cl_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace farcl::end_to_end {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kAttempts = 3; ///< a busy machine is no fault

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Takes the compiler a good part of a second, and nobody has built it before.
std::string slow_source(int kernels = 12) {
  static std::atomic<int> made{0};
  const std::string mark = std::to_string(::getpid()) + std::to_string(++made);
  std::string source = "constant int mark = " + mark + ";\n";
  for (int i = 0; i < kernels; ++i) {
    source += "kernel void k" + std::to_string(i) + "(global float *a) { for (int i = 0; i < 9; ++i) a[i] = sin(a[i]) + pow(a[i + 1], " +
              std::to_string(i) + ".5f) + mark; }\n";
  }
  return source;
}

class Builds : public ClTest {
protected:
  /// A build on its way; ended by its callback.
  struct Running {
    Running(const cl::Context& context, const std::string& source) : program(context, source) {
      EXPECT_EQ(clBuildProgram(program(), 0, nullptr, nullptr, &Running::end, this), CL_SUCCESS);
    }
    void wait() const {
      while (!ended) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    static void CL_CALLBACK end(cl_program, void* self) { static_cast<Running*>(self)->ended = true; }
    cl::Program program;
    std::atomic<bool> ended{false};
  };
};

TEST_F(Builds, DelayNoSmallCommand) {
  cl::Kernel kernel(build("kernel void tick(global int *x) { *x += 1; }"), "tick");
  cl::Buffer counter = upload(std::vector<int>{0});
  kernel.setArg(0, counter);
  const Running slow(context, slow_source());
  const auto begin = Clock::now();
  double longest = 0;
  int rounds = 0;
  for (; !slow.ended; ++rounds) {
    const auto start = Clock::now();
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    queue.finish();
    longest = std::max(longest, seconds_since(start));
  }
  const double build = seconds_since(begin);
  std::printf("%d small kernels during a build of %.0f ms, the slowest %.2f ms\n", rounds, build * 1e3, longest * 1e3);
  EXPECT_EQ(download<int>(counter, 1)[0], rounds);
  EXPECT_GT(rounds, 20);
  EXPECT_LT(longest, build / 4); // behind the build it would be all of it
  EXPECT_EQ(slow.program.getBuildInfo<CL_PROGRAM_BUILD_STATUS>(device), CL_BUILD_SUCCESS);
}

TEST_F(Builds, TwoRunSideBySide) {
  if (std::thread::hardware_concurrency() < 2) {
    GTEST_SKIP() << "one core";
  }
  double ratio = 2;
  for (int attempt = 0; attempt < kAttempts && ratio > 1.6; ++attempt) {
    const auto begin_one = Clock::now();
    Running(context, slow_source()).wait();
    const double one = seconds_since(begin_one);
    const auto begin_two = Clock::now();
    const Running first(context, slow_source());
    const Running second(context, slow_source());
    first.wait();
    second.wait();
    ratio = seconds_since(begin_two) / one;
    std::printf("two builds at once take %.2f times one of %.0f ms\n", ratio, one * 1e3);
  }
  EXPECT_LE(ratio, 1.6);
}

TEST_F(Builds, ALargeProgramIsKnownToTheNextProcess) {
  const std::string source = slow_source() + "//" + std::string(std::size_t{2} << 20, 'x');
  const auto begin = Clock::now();
  build(source);
  const double first = seconds_since(begin);
  const TestFolder folder;
  const std::string path = (folder.path() / "large.cl").string();
  std::FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_EQ(std::fwrite(source.data(), 1, source.size(), file), source.size());
  std::fclose(file);
  const ProgramEnd end = run_program(client("build", {path}), std::getenv("POCL_REMOTE_SERVERS"), std::chrono::seconds(30));
  ASSERT_EQ(end.exit_code, 0) << end.out << end.err;
  ASSERT_EQ(end.out.find("built after "), 0u) << end.out;
  const double second = std::atof(end.out.c_str() + 12) / 1e3;
  std::printf("built in %.0f ms, by the next process in %.1f ms\n", first * 1e3, second * 1e3);
  EXPECT_LT(second, first / 4);
}

} // namespace
} // namespace farcl::end_to_end
