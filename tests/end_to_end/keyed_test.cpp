// Programs and servers with keys, as people use them: farcl keygen, farcld --keys, FARCL_KEY_FILE; wrong keys, cuts, a key that is revoked.
#include "support/child_program.hpp"
#include "support/cut_relay.hpp"
#include "support/key_file.hpp"
#include "support/private_server.hpp"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace farcl::end_to_end {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Environment = std::map<std::string, std::string>;

Environment with(const KeyFile& key) { return {{"FARCL_KEY_FILE", key.path()}}; }

class Keyed : public ::testing::Test {
protected:
  KeyFile key;
  PrivateServer server{{"--keys", key.path()}};
};

TEST_F(Keyed, KeygenMakesAPrivateFileAndSaysWhatToDo) {
  struct stat about{};
  ASSERT_EQ(::stat(key.path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_THAT(key.advice(),
              AllOf(HasSubstr("farcld --keys " + key.path()), HasSubstr("~/.config/farcl/keys"), HasSubstr("FARCL_KEY_FILE")));
  const ProgramEnd again = run_program({FARCL_COMMAND_PATH, "keygen", "--out", key.path()}, "", seconds(10));
  EXPECT_NE(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("exists"));
  EXPECT_EQ(run_program({FARCL_COMMAND_PATH, "keygen", "--name", "a b", "--out", key.path() + "2"}, "", seconds(10)).exit_code, 2);
  EXPECT_EQ(run_program({FARCL_COMMAND_PATH, "keygen", "--expires", "soon", "--out", key.path() + "2"}, "", seconds(10)).exit_code, 2);
}

TEST_F(Keyed, AProgramRunsAndNothingOfItIsReadOnTheWay) {
  CutRelay relay(server.tcp_address());
  const ProgramEnd end = run_program(client("every-device"), relay.address(), seconds(20), with(key));
  EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
  EXPECT_THAT(end.out, HasSubstr("all right"));
  EXPECT_EQ(end.err, "");
  EXPECT_TRUE(relay.has_seen("FARCL\r\n")); // the hello
  EXPECT_FALSE(relay.has_seen("OpenCL 3.0"));
  EXPECT_FALSE(relay.has_seen("__kernel"));
  const PrivateServer plain;
  CutRelay open_relay(plain.tcp_address());
  EXPECT_EQ(run_program(client("every-device"), open_relay.address(), seconds(20)).exit_code, 0);
  EXPECT_TRUE(open_relay.has_seen("OpenCL 3.0") && open_relay.has_seen("__kernel")) << "else this test looks for the wrong words";
}

TEST_F(Keyed, WhoIsNotLetInHearsWhy) {
  const KeyFile other("bob");
  EXPECT_THAT(run_program(client("look-around"), server.tcp_address(), seconds(10), with(other)).err,
              HasSubstr("does not accept the key 'bob'"));
  EXPECT_THAT(run_program(client("look-around"), server.tcp_address(), seconds(10), {{"XDG_CONFIG_HOME", "/nowhere"}}).err,
              HasSubstr("lets in nobody without a key"));
  const PrivateServer plain;
  EXPECT_THAT(run_program(client("look-around"), plain.tcp_address(), seconds(10), with(key)).err, HasSubstr("it has no keys"));
  ::chmod(key.path().c_str(), 0644);
  EXPECT_THAT(run_program(client("look-around"), server.tcp_address(), seconds(10), with(key)).err, HasSubstr("chmod 600"));
}

TEST_F(Keyed, AServerThatIsKnownToHaveNoneNeedsNone) {
  const PrivateServer plain;
  std::ofstream(key.path(), std::ios::app) << "mine none servers=" << plain.tcp_address() << "\n";
  std::ifstream file(key.path());
  std::string first;
  std::string second;
  std::getline(file, first);
  std::getline(file, second);
  const KeyFile client_key("client");
  std::ofstream(client_key.path(), std::ios::trunc) << second << "\n" << first << "\n";
  const ProgramEnd end =
      run_program(client("every-device"), plain.tcp_address() + " " + server.tcp_address(), seconds(20), with(client_key));
  EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
  EXPECT_THAT(end.out, HasSubstr("devices 2"));
}

TEST_F(Keyed, ListSaysHowAServerIsReached) {
  const ProgramEnd end = run_program({FARCL_COMMAND_PATH, "list"}, server.tcp_address(), seconds(10), with(key));
  EXPECT_EQ(end.exit_code, 0) << end.out;
  EXPECT_THAT(end.out, Not(HasSubstr("INSECURE")));
}

// Every cut is repaired by a new connection with a new key: no kernel is lost, and none runs twice.
TEST_F(Keyed, CutsCostTimeAndNothingElse) {
  CutRelay relay(server.tcp_address());
  ChildProgram counting({FARCL_COUNTING_PROGRAM, "2", "0", "3000"}, relay.address(), with(key));
  ASSERT_TRUE(counting.wait_for_output("started", seconds(20)))
      << "a session whose first greeting is cut never came up, and is another test";
  for (int i = 0; i < 12; ++i) {
    sleep_ms(250);
    relay.cut();
  }
  const ProgramEnd end = counting.wait(seconds(30));
  EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
  EXPECT_THAT(end.out, HasSubstr("right"));
  EXPECT_EQ(end.err, "");
  EXPECT_GE(relay.connections(), 8);
  EXPECT_THAT(server.log(), HasSubstr("resumed by"));
}

TEST_F(Keyed, ARevokedKeyEndsTheProgramsWork) {
  ChildProgram busy(client("busy"), server.tcp_address(), with(key));
  ASSERT_TRUE(busy.wait_for_output("started", seconds(10)));
  const KeyFile next("next");
  const KeyFile mine; // not the same key, whatever its name
  const std::string old_path = key.path();
  const KeyFile kept("kept");
  kept.replace_by(key);
  key.replace_by(next);
  ASSERT_EQ(::kill(server.pid(), SIGHUP), 0);
  const ProgramEnd end = busy.wait(seconds(20));
  EXPECT_TRUE(end.in_time);
  EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
  EXPECT_THAT(end.out, HasSubstr("error -"));
  EXPECT_THAT(end.err, HasSubstr("the key 'alice' was revoked"));
  EXPECT_THAT(run_program(client("look-around"), server.tcp_address(), seconds(10), with(kept)).err,
              HasSubstr("the key 'alice' was revoked"));
  EXPECT_THAT(run_program(client("look-around"), server.tcp_address(), seconds(10), with(mine)).err, HasSubstr("does not accept"));
  EXPECT_EQ(run_program(client("every-device"), server.tcp_address(), seconds(20), with(next)).exit_code, 0);
}

TEST(Insecure, IsShoutedAtEveryProgram) {
  const PrivateServer server({"--insecure", "--listen", "0.0.0.0:0"});
  const ProgramEnd end = run_program(client("every-device"), server.tcp_address(), seconds(20));
  EXPECT_EQ(end.exit_code, 0) << end.out;
  EXPECT_THAT(end.err, HasSubstr("INSECURE"));
  EXPECT_THAT(run_program({FARCL_COMMAND_PATH, "list"}, server.tcp_address(), seconds(10)).out, HasSubstr("INSECURE"));
}

} // namespace
} // namespace farcl::end_to_end
