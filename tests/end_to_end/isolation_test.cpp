// A session is a process of its own: whatever one program does, its neighbour goes on, the server lives, the guilty program gets
// an OpenCL error and a sentence, and nothing is left behind.
#include "support/child_program.hpp"
#include "support/private_server.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace farcl::end_to_end {
namespace {

using std::chrono::seconds;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr double kStartSeconds = 3; ///< what a program may need until it has done it, on a busy machine
constexpr double kErrorSeconds = 5; ///< from the deed to the program's end: proof of death

class Isolation : public ::testing::Test {
protected:
  // Runs a guilty program beside a neighbour that computes and checks all the while.
  ProgramEnd run_beside_a_neighbour(PrivateServer& server, const std::string& mode, seconds limit) {
    ChildProgram neighbour(client("neighbour"), server.tcp_address());
    EXPECT_TRUE(neighbour.wait_for_output("started", seconds(10)));
    ProgramEnd guilty = run_program(client(mode), server.tcp_address(), limit);
    EXPECT_TRUE(guilty.in_time) << guilty.out << guilty.err;
    expect_a_new_session(server);
    expect_undisturbed(neighbour);
    return guilty;
  }
  static void expect_undisturbed(ChildProgram& neighbour) {
    sleep_ms(300); // it goes on after all that, too
    neighbour.signal(SIGTERM);
    const ProgramEnd innocent = neighbour.wait(seconds(60));
    EXPECT_TRUE(innocent.in_time);
    EXPECT_EQ(innocent.exit_code, 0) << innocent.out << innocent.err;
    EXPECT_THAT(innocent.out, HasSubstr("rounds right"));
    EXPECT_EQ(innocent.err, "");
  }
  static void expect_a_new_session(PrivateServer& server) {
    const ProgramEnd end = run_program(client("every-device"), server.unix_address(), seconds(20));
    EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
    EXPECT_TRUE(server.is_alive());
  }
  // After all its clients have gone, the server has no session's process left, and it ends as it should.
  static void expect_nothing_left(PrivateServer& server, std::size_t processes_before) {
    EXPECT_TRUE(eventually([&] { return server.descendants().size() <= processes_before; }, seconds(10)))
        << server.descendants().size() << " processes below farcld, " << processes_before << " before";
    const std::vector<pid_t> below = server.descendants();
    const std::string socket = server.socket_path();
    EXPECT_EQ(server.stop_gently(), 0);
    EXPECT_TRUE(eventually([&] { return std::none_of(below.begin(), below.end(), process_exists); }, seconds(5)));
    EXPECT_NE(::access(socket.c_str(), F_OK), 0) << "the socket is still there";
  }
  static std::size_t lines_with(const std::string& text, const std::string& part) {
    std::istringstream lines(text);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);) {
      count += line.find(part) != std::string::npos ? 1 : 0;
    }
    return count;
  }
};

// The processes that a server has when it is idle and has been used: perhaps a compile service and a worker started ahead.
std::size_t idle_processes(PrivateServer& server) {
  EXPECT_EQ(run_program(client("every-device"), server.tcp_address(), seconds(30)).exit_code, 0);
  std::size_t count = 0;
  sleep_ms(500);
  EXPECT_TRUE(eventually(
      [&] {
        const std::size_t before = std::exchange(count, server.descendants().size());
        sleep_ms(200);
        return before == count;
      },
      seconds(5)));
  return count;
}

TEST_F(Isolation, AWildAddress) {
  PrivateServer server;
  const std::size_t idle = idle_processes(server);
  const ProgramEnd guilty = run_beside_a_neighbour(server, "wild", seconds(15));
  EXPECT_EQ(guilty.exit_code, 0) << guilty.out << guilty.err;
  EXPECT_LT(guilty.seconds, kStartSeconds + kErrorSeconds);
  EXPECT_THAT(guilty.out, HasSubstr("error -"));
  EXPECT_THAT(guilty.err, HasSubstr("wild_write"));
  EXPECT_THAT(guilty.err, HasSubstr("segmentation fault"));
  EXPECT_EQ(lines_with(guilty.err, "wild_write"), 1U) << guilty.err;
  EXPECT_EQ(lines_with(server.log(), "wild_write"), 1U) << server.log();
  expect_nothing_left(server, idle);
}

TEST_F(Isolation, AnEndlessKernel) {
  PrivateServer server({"--kernel-seconds", "3"});
  const std::size_t idle = idle_processes(server);
  const ProgramEnd guilty = run_beside_a_neighbour(server, "endless", seconds(20));
  EXPECT_EQ(guilty.exit_code, 0) << guilty.out << guilty.err;
  EXPECT_GT(guilty.seconds, 2.5);
  EXPECT_LT(guilty.seconds, 3 + kStartSeconds + kErrorSeconds);
  EXPECT_THAT(guilty.out, HasSubstr("error -"));
  EXPECT_THAT(guilty.err, HasSubstr("endless_loop"));
  EXPECT_EQ(lines_with(server.log(), "endless_loop"), 1U) << server.log();
  expect_nothing_left(server, idle);
}

TEST_F(Isolation, MemoryWithoutEnd) {
  PrivateServer server({"--session-memory", "512M"});
  const std::size_t idle = idle_processes(server);
  const ProgramEnd guilty = run_beside_a_neighbour(server, "hungry", seconds(20));
  EXPECT_EQ(guilty.exit_code, 0) << guilty.out << guilty.err;
  EXPECT_THAT(guilty.out, ContainsRegex("error -(4|5|6|61) ")); // allocation failure, out of (host) resources, buffer size
  const auto at = guilty.out.find("pieces ");
  ASSERT_NE(at, std::string::npos) << guilty.out;
  const int pieces = std::atoi(guilty.out.c_str() + at + 7);
  EXPECT_GE(pieces, 12); // 32 MiB each: nearly all of the 512 MiB could be had, and no more
  EXPECT_LE(pieces, 17);
  expect_nothing_left(server, idle);
}

TEST_F(Isolation, AClientThatScribblesOverSharedMemory) {
  PrivateServer server({"--resume-seconds", "1"});
  const std::size_t idle = idle_processes(server);
  ChildProgram neighbour(client("neighbour"), server.unix_address());
  ASSERT_TRUE(neighbour.wait_for_output("started", seconds(10)));
  for (int round = 0; round < 4; ++round) {
    const ProgramEnd guilty = run_program(client("scribble"), server.unix_address(), seconds(20)); // may well harm itself
    EXPECT_TRUE(guilty.in_time) << guilty.out << guilty.err;
    EXPECT_THAT(guilty.out, HasSubstr("shares 2 regions"));
  }
  expect_a_new_session(server);
  expect_undisturbed(neighbour);
  expect_nothing_left(server, idle);
}

TEST_F(Isolation, AClientThatIsKilledInTheMiddleOfWork) {
  PrivateServer server({"--resume-seconds", "2"});
  const std::size_t idle = idle_processes(server);
  {
    ChildProgram neighbour(client("neighbour"), server.tcp_address());
    ASSERT_TRUE(neighbour.wait_for_output("started", seconds(10)));
    ChildProgram endless(client("endless"), server.tcp_address());
    ChildProgram busy(client("busy"), server.unix_address());
    ASSERT_TRUE(endless.wait_for_output("started", seconds(10)));
    ASSERT_TRUE(busy.wait_for_output("started", seconds(10)));
    sleep_ms(300);
    endless.signal(SIGKILL);
    busy.signal(SIGKILL);
    EXPECT_EQ(endless.wait(seconds(10)).exit_code, 128 + SIGKILL);
    EXPECT_EQ(busy.wait(seconds(10)).exit_code, 128 + SIGKILL);
    expect_a_new_session(server);
    expect_undisturbed(neighbour);
  }
  // The endless kernel is ended within 5 s after its client has gone for good (2 s here).
  expect_nothing_left(server, idle);
}

TEST_F(Isolation, KillingTheSupervisorLeavesNoProcessBehind) {
  PrivateServer server;
  ChildProgram endless(client("endless"), server.tcp_address());
  ASSERT_TRUE(endless.wait_for_output("started", seconds(10)));
  sleep_ms(300);
  const std::vector<pid_t> below = server.descendants();
  ASSERT_FALSE(below.empty());
  server.kill_hard();
  EXPECT_TRUE(eventually([&] { return std::none_of(below.begin(), below.end(), process_exists); }, seconds(5)));
  const ProgramEnd end = endless.wait(seconds(20));
  EXPECT_TRUE(end.in_time);
  EXPECT_THAT(end.out, HasSubstr("error -"));
}

} // namespace
} // namespace farcl::end_to_end
