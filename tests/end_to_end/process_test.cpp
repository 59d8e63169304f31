// What programs do with themselves: fork, leave without a word, close the loader, get Ctrl-C, print from kernels.
#include "support/child_program.hpp"
#include "support/private_server.hpp"
#include "tests/sanitizer.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace farcl::end_to_end {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

/// Processor time of all threads of a process, to the nanosecond.
std::uint64_t processor_ns(pid_t pid) {
  std::uint64_t sum = 0;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::uint64_t ran = 0;
    std::ifstream(task.path() / "schedstat") >> ran;
    sum += ran;
  }
  return sum;
}

class Processes : public ::testing::Test {
protected:
  void expect_clean(const ProgramEnd& end, const std::string& says) {
    EXPECT_TRUE(end.in_time) << end.out << end.err;
    EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
    EXPECT_THAT(end.out, HasSubstr(says));
  }
  PrivateServer server;
};

TEST_F(Processes, LeavingWithoutReleasingAnything) {
  for (const std::string& address : {server.tcp_address(), server.unix_address()}) {
    const ProgramEnd end = run_program(client("leave-everything"), address, seconds(10));
    expect_clean(end, "leaving");
    EXPECT_EQ(end.err, "");
  }
}

TEST_F(Processes, ForkInTheMiddleOfASession) {
  const ProgramEnd end = run_program(client("fork-in-the-middle"), server.tcp_address(), seconds(20));
  expect_clean(end, "parent right child 0");
}

TEST_F(Processes, ForkBeforeTheFirstCall) {
  expect_clean(run_program(client("fork-first"), server.tcp_address(), seconds(20)), "both right");
}

TEST_F(Processes, PythonMultiprocessing) {
  if (test::is_sanitized()) {
    GTEST_SKIP() << "a program without the sanitizer cannot load a driver with it";
  }
  const std::vector<std::string> command{
      "/usr/bin/python3", "-B", "-W", "ignore", FARCL_TEST_SOURCE_FOLDER "/programs/multiprocessing_program.py", "fork", "spawn"};
  expect_clean(run_program(command, server.tcp_address(), seconds(60), {{"PYOPENCL_NO_CACHE", "1"}}), "all right");
}

TEST_F(Processes, ClosingTheLoaderWithWorkInFlight) {
  if (test::is_sanitized()) {
    GTEST_SKIP() << "a program without the sanitizer cannot load a driver with it";
  }
  expect_clean(run_program({FARCL_DLCLOSE_PROGRAM}, server.tcp_address(), seconds(20)), "still here");
}

TEST_F(Processes, ControlCEndsAWaitingProgram) {
  ChildProgram waiting(client("wait-forever"), server.tcp_address());
  ASSERT_TRUE(waiting.wait_for_output("waiting", seconds(10)));
  sleep_ms(300);
  waiting.signal(SIGINT);
  const auto begin = std::chrono::steady_clock::now();
  const ProgramEnd end = waiting.wait(seconds(20));
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 1);
  EXPECT_EQ(end.exit_code, 128 + SIGINT) << end.out;
}

TEST_F(Processes, SilenceCostsNothing) {
  for (const std::string& address : {server.tcp_address(), server.unix_address()}) {
    ChildProgram program(client("fall-silent"), address);
    ASSERT_TRUE(program.wait_for_output("silent", seconds(20))) << program.output();
    sleep_ms(1000);
    const auto server_ns = [&] {
      std::uint64_t sum = processor_ns(server.pid());
      for (const pid_t pid : server.descendants()) {
        sum += processor_ns(pid);
      }
      return sum;
    };
    const std::uint64_t client_before = processor_ns(program.pid());
    const std::uint64_t server_before = server_ns();
    const auto begin = std::chrono::steady_clock::now();
    sleep_ms(3000);
    const auto passed = static_cast<double>((std::chrono::steady_clock::now() - begin).count());
    EXPECT_GT(client_before, 0u);
    EXPECT_GT(server_before, 0u);
    EXPECT_LT(static_cast<double>(processor_ns(program.pid()) - client_before) / passed, 0.005) << address;
    EXPECT_LT(static_cast<double>(server_ns() - server_before) / passed, 0.005) << address;
  }
}

TEST_F(Processes, KernelsPrintOnTheProgramsOwnOutputInOrder) {
  const ProgramEnd end = run_program(client("print-in-order"), server.tcp_address(), seconds(20));
  std::string expected;
  for (int line = 0; line < 100; ++line) {
    expected += "line " + std::to_string(line) + " of the kernel's output\n";
  }
  EXPECT_EQ(end.out, expected + "finished\n");
  EXPECT_EQ(end.exit_code, 0) << end.err;
}

} // namespace
} // namespace farcl::end_to_end
