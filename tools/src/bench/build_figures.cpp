// Building programs, and starting whole sessions.
#include "figures.hpp"

#include "../find_parts.hpp"

#include <cerrno>
#include <cstring>
#include <random>
#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

namespace farcl::tools::bench {

namespace {
// A program that no cache has seen before: the constant is new each time.
std::string new_source(std::mt19937_64& random) {
  return "__kernel void f(__global float *p, float a) { int i = get_global_id(0);"
         " for (int k = 0; k < 16; k++) p[i] = p[i] * a + " +
         std::to_string(random() % 1000000000) + ".0f; }\n";
}

// Runs the program once: a program is built to be used, and what a server puts off until then is not counted as building.
void run_once(const Session& session, cl_program program) {
  constexpr std::size_t kItems = 16;
  const cl_float factor = 0.5F;
  cl_int status = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "f", &status);
  check(status, "clCreateKernel");
  cl_mem buffer = clCreateBuffer(session.context, CL_MEM_READ_WRITE, kItems * sizeof factor, nullptr, &status);
  check(status, "clCreateBuffer");
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof factor, &factor), "clSetKernelArg");
  check(clEnqueueNDRangeKernel(session.queue, kernel, 1, nullptr, &kItems, nullptr, 0, nullptr, nullptr), "clEnqueueNDRangeKernel");
  check(clFinish(session.queue), "clFinish");
  check(clReleaseMemObject(buffer), "clReleaseMemObject");
  check(clReleaseKernel(kernel), "clReleaseKernel");
}

double build_once(const Session& session, const std::string& source) {
  cl_program program = nullptr;
  const double time = timed([&] { program = build_program(session.context, session.device, source); });
  run_once(session, program);
  check(clReleaseProgram(program), "clReleaseProgram");
  return time;
}

void run_to_first_result(const BenchOptions& options) {
  std::string self = (own_folder() / "farcl").string();
  std::string platform = "--platform=" + options.platform;
  char* arguments[] = {self.data(), const_cast<char*>("bench"), const_cast<char*>("--first-result"),
                       options.platform.empty() ? nullptr : platform.data(), nullptr};
  pid_t child = -1;
  if (const int error = ::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ); error != 0) {
    throw BenchFailure(std::string("cannot start a process: ") + std::strerror(error));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw BenchFailure("a new process did not get to its first result");
  }
}
} // namespace

void measure_builds(const Session& session, const BenchOptions& options, Report& report) {
  std::random_device seed;
  std::mt19937_64 random((std::uint64_t{seed()} << 32) | seed());
  std::string source;
  Sample known;
  Effort effort = options.effort(30);
  effort.warm_up = 1;
  const Sample fresh = collect(effort, [&] {
    source = new_source(random);
    const double time = build_once(session, source);
    known.add(build_once(session, source));
    return time;
  });
  report.milliseconds("create and build a new program", fresh);
  report.milliseconds("create and build a known program", known);
}

void measure_session_start(const BenchOptions& options, Report& report) {
  Effort effort = options.effort(30);
  effort.warm_up = 1;
  report.milliseconds("session start: new process to first result",
                      collect(effort, [&] { return timed([&] { run_to_first_result(options); }); }));
}

} // namespace farcl::tools::bench
