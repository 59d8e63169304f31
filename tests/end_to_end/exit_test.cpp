// How programs end: the server frees their sessions at once, whatever the program was doing, and nobody else is hurt.
#include "support/child_program.hpp"
#include "support/private_server.hpp"
#include "tests/sanitizer.hpp"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace farcl::end_to_end {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

class Exit : public ::testing::Test {
protected:
  /// Runs the mode and expects that its session has gone long before --resume-seconds (5) are over.
  void run_and_look(const std::string& mode, const std::string& address, const std::string& says) {
    const ProgramEnd end = run_program(client(mode), address, seconds(30));
    EXPECT_TRUE(end.in_time) << mode << end.out << end.err;
    EXPECT_EQ(end.exit_code, 0) << mode << end.out << end.err;
    EXPECT_EQ(end.err, "") << mode;
    EXPECT_THAT(end.out, HasSubstr(says)) << mode;
    EXPECT_TRUE(eventually([&] { return server.workers().size() <= 1; }, seconds(3))) << mode << ": " << server.log(); // the reserve
  }
  PrivateServer server{std::vector<std::string>{"--max-sessions", "8"}};
};

TEST_F(Exit, ManyShortProgramsOneAfterAnother) {
  const int programs = test::is_sanitized() ? 20 : 100;
  for (const std::string& address : {server.tcp_address(), server.unix_address()}) {
    for (int i = 0; i < programs; ++i) {
      const ProgramEnd end = run_program(client(i % 4 == 0 ? "every-device" : "look-around"), address, seconds(20));
      ASSERT_EQ(end.exit_code, 0) << end.out << end.err;
      ASSERT_EQ(end.out.find("devices 1"), 0U) << "program " << i << " with " << address << ": " << end.out << end.err;
    }
  }
}

TEST_F(Exit, SessionsEndWithTheirPrograms) {
  for (const std::string& address : {server.tcp_address(), server.unix_address()}) {
    run_and_look("every-device", address, "all right");
    run_and_look("exit-with-threads", address, "leaving");
  }
  EXPECT_THAT(server.log(), HasSubstr("ended: its program has ended"));
}

TEST_F(Exit, ExitInASignalHandlerIsNoHang) {
  // The handler may have interrupted who holds the lock: then the session stays as long as one that was cut off.
  for (const std::string& address : {server.tcp_address(), server.unix_address()}) {
    const ProgramEnd end = run_program(client("exit-from-handler"), address, seconds(30));
    EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
    EXPECT_EQ(end.err, "");
  }
}

TEST_F(Exit, AClonedProcessDoesNotSpeakForItsParent) {
  for (const std::string& address : {server.tcp_address(), server.unix_address()}) {
    run_and_look("clone-and-exit", address, "parent right");
  }
}

TEST_F(Exit, AKilledProgramIsWaitedForAsIfItWereCutOff) {
  ChildProgram program(client("neighbour"), server.tcp_address());
  ASSERT_TRUE(program.wait_for_output("started", seconds(10)));
  const std::size_t before = server.workers().size();
  program.signal(SIGKILL);
  (void)program.wait(seconds(5));
  sleep_ms(1500);
  EXPECT_GE(server.workers().size(), before) << "a connection that closes is no proof of a program's end";
}

} // namespace
} // namespace farcl::end_to_end
