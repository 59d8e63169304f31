// ssh:// against a real sshd on loopback: its own configuration, host key, port and user key. Root is not needed: sshd serves the
// user that runs it.
#include "support/child_program.hpp"
#include "support/private_server.hpp"

#include <arpa/inet.h>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>

namespace farcl::end_to_end {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr const char* kSshd = "/usr/sbin/sshd";

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), length);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(fd);
  return ntohs(address.sin_port);
}

bool is_listening(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool listening = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return listening;
}

class Ssh : public ::testing::Test {
protected:
  void SetUp() override {
    if (::access(kSshd, X_OK) != 0) {
      GTEST_SKIP() << kSshd << " is not installed (Debian package openssh-server)";
    }
    if (::geteuid() == 0) {
      std::error_code ignored;
      std::filesystem::create_directories("/run/sshd", ignored); // where sshd of root separates its privileges
    }
    make_key("host_key");
    make_key("user_key");
    std::filesystem::copy_file(path("user_key.pub"), path("authorized_keys"));
    port_ = free_port();
    write("sshd_config", "ListenAddress 127.0.0.1\nPort " + std::to_string(port_) + "\nHostKey " + path("host_key") +
                             "\nAuthorizedKeysFile " + path("authorized_keys") +
                             "\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n" +
                             "KbdInteractiveAuthentication no\nPermitRootLogin yes\nAcceptEnv XDG_CACHE_HOME\nLogLevel ERROR\n");
    write("ssh_config", "Host *\n  IdentityFile " + path("user_key") + "\n  IdentitiesOnly yes\n  UserKnownHostsFile " +
                            path("known_hosts") +
                            "\n  GlobalKnownHostsFile none\n  StrictHostKeyChecking accept-new\n  BatchMode yes\n  LogLevel ERROR\n");
    sshd_ = std::make_unique<ChildProgram>(std::vector<std::string>{kSshd, "-D", "-e", "-f", path("sshd_config")}, "");
    ASSERT_TRUE(eventually([&] { return is_listening(port_); }, seconds(5))) << sshd_->wait(seconds(0)).err;
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  void make_key(const std::string& name) const {
    const ProgramEnd end = run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(name)}, "", seconds(10));
    ASSERT_EQ(end.exit_code, 0) << end.err;
  }
  [[nodiscard]] std::string address() const {
    const passwd* user = ::getpwuid(::geteuid());
    return "ssh://" + std::string(user != nullptr ? user->pw_name : "root") + "@127.0.0.1:" + std::to_string(port_);
  }
  [[nodiscard]] std::map<std::string, std::string> environment() const {
    return {{"FARCL_SSH", "ssh -F " + path("ssh_config")}, {"FARCL_SSH_DAEMON", FARCL_DAEMON_PATH}, {"FARCL_CONNECT_TIMEOUT_MS", "10000"}};
  }

  TestFolder folder_;
  int port_ = 0;
  std::unique_ptr<ChildProgram> sshd_;
};

TEST_F(Ssh, ProgramsComputeOnTheOtherSide) {
  const ProgramEnd end = run_program(client("every-device"), address(), seconds(30), environment());
  EXPECT_TRUE(end.in_time);
  EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
  EXPECT_THAT(end.out, HasSubstr("devices 1"));
  EXPECT_THAT(end.out, HasSubstr("all right"));
  EXPECT_EQ(end.err, "");
}

TEST_F(Ssh, FarclListShowsTheServer) {
  const ProgramEnd end = run_program({FARCL_COMMAND_PATH, "list", address()}, "", seconds(30), environment());
  EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
  EXPECT_THAT(end.out, HasSubstr("device 0"));
}

TEST_F(Ssh, AWrongKeyIsAClearError) {
  std::filesystem::remove(path("authorized_keys"));
  const ProgramEnd end = run_program(client("look-around"), address(), seconds(30), environment());
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.out, HasSubstr("devices 0"));
  EXPECT_THAT(end.err, HasSubstr(address()));
}

TEST_F(Ssh, TheProcessesOnTheOtherSideEndWithTheProgram) {
  ChildProgram endless(client("wait-forever"), address(), environment());
  ASSERT_TRUE(endless.wait_for_output("waiting", seconds(20)));
  endless.signal(SIGKILL);
  EXPECT_EQ(endless.wait(seconds(10)).exit_code, 128 + SIGKILL);
  EXPECT_TRUE(eventually(
      [&] {
        const ProgramEnd found = run_program({"pgrep", "-P", std::to_string(sshd_->pid())}, "", seconds(5));
        return found.exit_code == 1; // sshd has no child any more
      },
      seconds(15)));
}

} // namespace
} // namespace farcl::end_to_end
