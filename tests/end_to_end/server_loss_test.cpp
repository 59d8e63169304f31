// The server goes away, never comes, or never answers: every call ends, with an error and one sentence, and living servers work.
#include "support/child_program.hpp"
#include "support/private_server.hpp"

#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sstream>
#include <sys/socket.h>

namespace farcl::end_to_end {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr double kProofOfDeathSeconds = 5;
constexpr double kConnectSeconds = 1; ///< FARCL_CONNECT_TIMEOUT_MS when nobody sets it; CTest gives other tests more
[[maybe_unused]] const int kNobodySetsIt = ::unsetenv("FARCL_CONNECT_TIMEOUT_MS");

std::size_t count_lines(const std::string& text) {
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    count += line.empty() ? 0 : 1;
  }
  return count;
}

// A socket that takes connections and says nothing; or, with `refuse`, an address where nobody listens.
class SilentServer {
public:
  explicit SilentServer(bool refuse = false) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, generic, length) != 0 || (!refuse && ::listen(socket_, 16) != 0) || ::getsockname(socket_, generic, &length) != 0) {
      throw std::runtime_error("no socket");
    }
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~SilentServer() { ::close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  [[nodiscard]] const std::string& address() const { return address_; }

private:
  int socket_ = -1;
  std::string address_;
};

void expect_a_timely_error(const ProgramEnd& end, std::chrono::steady_clock::time_point deed) {
  const double after = std::chrono::duration<double>(std::chrono::steady_clock::now() - deed).count();
  EXPECT_TRUE(end.in_time) << end.out << end.err;
  EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
  EXPECT_LT(after, kProofOfDeathSeconds + 1) << end.out;
  EXPECT_THAT(end.out, HasSubstr("error -"));
  EXPECT_EQ(count_lines(end.err), 1U) << end.err;
}

TEST(ServerLoss, TheWorkerIsKilledInTheMiddleOfWork) {
  PrivateServer server;
  ChildProgram busy(client("busy"), server.tcp_address());
  ASSERT_TRUE(busy.wait_for_output("started", seconds(10)));
  sleep_ms(200);
  ASSERT_FALSE(server.workers().empty());
  const auto deed = std::chrono::steady_clock::now();
  for (pid_t worker : server.workers()) {
    ::kill(worker, SIGKILL);
  }
  expect_a_timely_error(busy.wait(seconds(30)), deed);
  EXPECT_EQ(run_program(client("every-device"), server.tcp_address(), seconds(20)).exit_code, 0);
}

TEST(ServerLoss, TheDaemonIsKilledInTheMiddleOfWork) {
  PrivateServer server;
  for (const std::string& address : {server.tcp_address(), server.unix_address()}) {
    SCOPED_TRACE(address);
  }
  ChildProgram over_tcp(client("busy"), server.tcp_address());
  ChildProgram over_unix(client("busy"), server.unix_address());
  ASSERT_TRUE(over_tcp.wait_for_output("started", seconds(10)));
  ASSERT_TRUE(over_unix.wait_for_output("started", seconds(10)));
  sleep_ms(200);
  const auto deed = std::chrono::steady_clock::now();
  server.kill_hard();
  expect_a_timely_error(over_tcp.wait(seconds(30)), deed);
  expect_a_timely_error(over_unix.wait(seconds(30)), deed);
}

TEST(ServerLoss, AServerThatNeverAnswers) {
  const SilentServer silent;
  const ProgramEnd end = run_program(client("look-around"), silent.address(), seconds(10));
  EXPECT_TRUE(end.in_time);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.out, HasSubstr("devices 0"));
  EXPECT_LT(end.seconds, kConnectSeconds + 0.7);
  EXPECT_EQ(count_lines(end.err), 1U) << end.err;
  EXPECT_THAT(end.err, HasSubstr(silent.address()));
}

TEST(ServerLoss, AServerThatRefuses) {
  const SilentServer refusing(true);
  const ProgramEnd end = run_program(client("look-around"), refusing.address(), seconds(10));
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.out, HasSubstr("devices 0"));
  EXPECT_LT(end.seconds, kConnectSeconds + 0.5);
  EXPECT_EQ(count_lines(end.err), 1U) << end.err;
}

TEST(ServerLoss, ANameThatDoesNotResolve) {
  const ProgramEnd end = run_program(client("look-around"), "no-such-host.invalid", seconds(10));
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.out, HasSubstr("devices 0"));
  EXPECT_LT(end.seconds, kConnectSeconds + 0.7);
  EXPECT_EQ(count_lines(end.err), 1U) << end.err;
  EXPECT_THAT(end.err, HasSubstr("no-such-host.invalid"));
}

TEST(ServerLoss, OneDeadServerOfThree) {
  PrivateServer first;
  PrivateServer second;
  const SilentServer silent;
  const std::string servers = first.tcp_address() + "," + silent.address() + " " + second.unix_address();
  const ProgramEnd end = run_program(client("every-device"), servers, seconds(20));
  EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
  EXPECT_THAT(end.out, HasSubstr("devices 2"));
  EXPECT_THAT(end.out, HasSubstr("all right"));
  EXPECT_EQ(count_lines(end.err), 1U) << end.err;
  EXPECT_THAT(end.err, HasSubstr(silent.address()));
}

TEST(ServerLoss, ThreeDeadServersCostOneTimeOut) {
  const SilentServer a, b, c;
  const ProgramEnd end = run_program(client("look-around"), a.address() + " " + b.address() + " " + c.address(), seconds(10));
  EXPECT_LT(end.seconds, kConnectSeconds + 0.7);
  EXPECT_EQ(count_lines(end.err), 3U) << end.err;
}

} // namespace
} // namespace farcl::end_to_end
