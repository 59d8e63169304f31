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

double build_once(const Session& session, const std::string& source) {
  cl_program program = nullptr;
  const double time = timed([&] { program = build_program(session.context, session.device, source); });
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
