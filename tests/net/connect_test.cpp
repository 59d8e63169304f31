// Connecting to servers that answer, refuse, are silent, talk nonsense or go away; and through an ssh (a stand-in for it).
#include "farcl/net/connect.hpp"

#include "farcl/net/accept.hpp"
#include "temporary_folder.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>

namespace farcl::net {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A server for one connection that does what `serve` says, on TCP or on a Unix socket.
class OneShotServer {
public:
  using Serve = std::function<void(int socket)>;
  OneShotServer(UniqueFd listener, Serve serve) : listener_(std::move(listener)) {
    thread_ = std::thread([this, serve = std::move(serve)] {
      pollfd one{listener_.get(), POLLIN, 0};
      if (::poll(&one, 1, 10'000) == 1) {
        const UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        serve(connection.get());
      }
    });
  }
  ~OneShotServer() { thread_.join(); }
  [[nodiscard]] ServerAddress address() const { return *parse_server_address("127.0.0.1:" + std::to_string(*bound_port(listener_.get()))); }

private:
  UniqueFd listener_;
  std::thread thread_;
};

UniqueFd tcp_listener() { return std::move(*listen_tcp({"127.0.0.1", 0})); }

protocol::Hello read_hello(int socket) {
  protocol::HelloBytes bytes{};
  EXPECT_EQ(::recv(socket, bytes.data(), bytes.size(), MSG_WAITALL), static_cast<ssize_t>(bytes.size()));
  const auto hello = protocol::decode_hello(bytes);
  EXPECT_TRUE(hello.has_value());
  return hello ? *hello : protocol::Hello{};
}
void write_all(int socket, ConstBytes bytes) {
  EXPECT_EQ(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}
/// Until the client has closed, at most some seconds.
void wait_for_end(int socket) {
  pollfd one{socket, POLLIN, 0};
  ::poll(&one, 1, 8'000);
}

ConnectOptions within(std::chrono::milliseconds timeout) {
  ConnectOptions options;
  options.timeout = timeout;
  return options;
}

TEST(Connect, ExchangesHelloAndReadsNotOneByteMore) {
  const std::string after = "the first frame";
  OneShotServer server(tcp_listener(), [&](int socket) {
    const auto hello = read_hello(socket);
    EXPECT_EQ(hello.received, 77u);
    protocol::HelloReply reply;
    reply.received = 99;
    reply.text = "welcome";
    auto bytes = protocol::encode_hello_reply(reply);
    std::vector<std::byte> all(bytes.begin(), bytes.end());
    for (char c : after) {
      all.push_back(static_cast<std::byte>(c));
    }
    write_all(socket, all);
    wait_for_end(socket);
  });
  protocol::Hello hello;
  hello.received = 77;
  auto connection = connect(server.address(), hello, within(5s));
  ASSERT_TRUE(connection.has_value()) << connection.error().message;
  EXPECT_EQ(connection->reply.received, 99u);
  EXPECT_EQ(connection->reply.text, "welcome");
  std::array<std::byte, 100> buffer{};
  ASSERT_EQ(connection->transport->wait(Interest::kReadable, 5s, nullptr), Interest::kReadable);
  const auto got = connection->transport->receive(buffer);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(std::string(reinterpret_cast<char*>(buffer.data()), *got), after);
}

TEST(Connect, TakesAReplyInPieces) {
  OneShotServer server(tcp_listener(), [&](int socket) {
    (void)read_hello(socket);
    const auto bytes = protocol::encode_hello_reply({});
    for (std::size_t at = 0; at < bytes.size(); at += 7) {
      write_all(socket, ConstBytes(bytes).subspan(at, std::min<std::size_t>(7, bytes.size() - at)));
      std::this_thread::sleep_for(1ms);
    }
    wait_for_end(socket);
  });
  EXPECT_TRUE(connect(server.address(), {}, within(5s)).has_value());
}

TEST(Connect, ARefusalIsAReply) {
  OneShotServer server(tcp_listener(), [&](int socket) {
    (void)read_hello(socket);
    protocol::HelloReply reply;
    reply.status = protocol::HelloStatus::kTooMany;
    reply.text = "the server has its limit of sessions";
    write_all(socket, protocol::encode_hello_reply(reply));
    wait_for_end(socket);
  });
  const auto connection = connect(server.address(), {}, within(5s));
  ASSERT_TRUE(connection.has_value());
  EXPECT_EQ(connection->reply.status, protocol::HelloStatus::kTooMany);
}

TEST(Connect, NobodyThere) {
  auto listener = tcp_listener();
  const auto address = *parse_server_address("127.0.0.1:" + std::to_string(*bound_port(listener.get())));
  listener.reset();
  const auto start = Clock::now();
  const auto connection = connect(address, {}, within(5s));
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code, ErrorCode::kDisconnected);
  EXPECT_EQ(connection.error().system_errno, ECONNREFUSED);
  EXPECT_NE(connection.error().message.find(address.text), std::string::npos);
  EXPECT_NE(connection.error().message.find("farcld"), std::string::npos);
  EXPECT_LT(Clock::now() - start, 2s);
}

TEST(Connect, ASilentServerEndsWithTheTimeout) {
  std::atomic<bool> done{false};
  OneShotServer silent(tcp_listener(), [&](int socket) {
    (void)read_hello(socket);
    while (!done) {
      std::this_thread::sleep_for(1ms);
    }
  });
  const auto start = Clock::now();
  const auto connection = connect(silent.address(), {}, within(200ms));
  const auto took = Clock::now() - start;
  done = true;
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code, ErrorCode::kTimeout);
  EXPECT_GE(took, 200ms);
  EXPECT_LT(took, 2s);
}

TEST(Connect, AListenerThatNeverAcceptsEndsWithTheTimeout) {
  const auto listener = tcp_listener();
  const auto address = *parse_server_address("127.0.0.1:" + std::to_string(*bound_port(listener.get())));
  const auto connection = connect(address, {}, within(100ms));
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code, ErrorCode::kTimeout);
}

TEST(Connect, AnotherProtocolIsRecognisedAtOnce) {
  OneShotServer server(tcp_listener(), [](int socket) {
    const std::string banner = "SSH-2.0-OpenSSH_9.2\r\n";
    write_all(socket, std::as_bytes(std::span(banner)));
    wait_for_end(socket);
  });
  const auto start = Clock::now();
  const auto connection = connect(server.address(), {}, within(5s));
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code, ErrorCode::kInvalid);
  EXPECT_LT(Clock::now() - start, 3s);
}

TEST(Connect, AMalformedReplyIsInvalid) {
  OneShotServer server(tcp_listener(), [](int socket) {
    (void)read_hello(socket);
    auto bytes = protocol::encode_hello_reply({});
    bytes[12] = std::byte{200};
    write_all(socket, bytes);
    wait_for_end(socket);
  });
  const auto connection = connect(server.address(), {}, within(5s));
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code, ErrorCode::kInvalid);
}

TEST(Connect, AServerThatClosesAfterAnyByteOfItsReply) {
  for (std::size_t bytes_before = 0; bytes_before < protocol::kHelloReplyBytes; ++bytes_before) {
    OneShotServer server(tcp_listener(), [&](int socket) {
      (void)read_hello(socket);
      const auto bytes = protocol::encode_hello_reply({});
      if (bytes_before != 0) {
        write_all(socket, ConstBytes(bytes).first(bytes_before));
      }
    });
    const auto connection = connect(server.address(), {}, within(5s));
    ASSERT_FALSE(connection.has_value());
    EXPECT_EQ(connection.error().code, ErrorCode::kDisconnected);
  }
}

TEST(Connect, AServerThatResets) {
  OneShotServer server(tcp_listener(), [](int socket) {
    const linger now{1, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  });
  const auto connection = connect(server.address(), {}, within(5s));
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code, ErrorCode::kDisconnected);
}

TEST(Connect, NamesAreResolved) {
  OneShotServer server(tcp_listener(), [](int socket) {
    (void)read_hello(socket);
    write_all(socket, protocol::encode_hello_reply({}));
    wait_for_end(socket);
  });
  // "localhost" may be ::1 first, where nobody listens: the next address is tried.
  auto address = server.address();
  address.host = "localhost";
  const auto connection = connect(address, {}, within(5s));
  EXPECT_TRUE(connection.has_value()) << connection.error().message;
}

TEST(Connect, ANameThatDoesNotResolve) {
  const auto start = Clock::now();
  const auto connection = connect(*parse_server_address("no-such-name.invalid"), {}, within(1s));
  ASSERT_FALSE(connection.has_value());
  EXPECT_TRUE(connection.error().code == ErrorCode::kDisconnected || connection.error().code == ErrorCode::kTimeout);
  EXPECT_LT(Clock::now() - start, 3s);
}

TEST(Connect, UnixSockets) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("farcl.sock");
  auto missing = connect(*parse_server_address("unix:" + path), {}, within(1s));
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kDisconnected);
  EXPECT_EQ(missing.error().system_errno, ENOENT);
  {
    OneShotServer server(std::move(*listen_unix({path, 0600, ""})), [](int socket) {
      (void)read_hello(socket);
      write_all(socket, protocol::encode_hello_reply({}));
      wait_for_end(socket);
    });
    const auto connection = connect(*parse_server_address("unix:" + path), {}, within(5s));
    ASSERT_TRUE(connection.has_value()) << connection.error().message;
    EXPECT_EQ(connection->transport->description(), "unix " + path);
  }
  const auto stale = connect(*parse_server_address("unix:" + path), {}, within(1s));
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().system_errno, ECONNREFUSED);
}

TEST(Connect, AFullUnixQueueEndsWithTheTimeout) {
  const testing::TemporaryFolder folder;
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string path = folder.file("s");
  std::copy(path.begin(), path.end(), name.sun_path);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  const UniqueFd first(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(first.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0); // takes the one place
  const auto start = Clock::now();
  const auto connection = connect(*parse_server_address("unix:" + path), {}, within(100ms));
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code, ErrorCode::kTimeout);
  EXPECT_GE(Clock::now() - start, 100ms);
  EXPECT_LT(Clock::now() - start, 3s);
}

TEST(Connect, LeavesNoDescriptorBehind) {
  const auto count_open = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  auto listener = tcp_listener();
  const auto address = *parse_server_address("127.0.0.1:" + std::to_string(*bound_port(listener.get())));
  listener.reset();
  (void)connect(address, {}, within(1s));
  const auto before = count_open();
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(connect(address, {}, within(1s)).has_value());
  }
  EXPECT_EQ(count_open(), before);
}

/// A program that takes ssh's place: it writes its arguments to a file and then runs `script`.
class FakeSsh {
public:
  explicit FakeSsh(const std::string& script) : program_(folder_.file("ssh")) {
    std::ofstream(program_) << "#!/bin/bash\nprintf '%s\\n' \"$@\" > " << arguments_file() << "\necho $$ > " << pid_file() << "\n"
                            << script << "\n";
    ::chmod(program_.c_str(), 0755);
    const auto reply = protocol::encode_hello_reply({});
    std::ofstream(folder_.file("reply"), std::ios::binary).write(reinterpret_cast<const char*>(reply.data()), reply.size());
  }
  [[nodiscard]] ConnectOptions options() const {
    ConnectOptions options;
    options.ssh_command = program_ + " -F none";
    options.ssh_daemon = "/opt/farcl/farcld";
    return options;
  }
  [[nodiscard]] std::vector<std::string> arguments() const {
    std::ifstream file(arguments_file());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      lines.push_back(line);
    }
    return lines;
  }
  [[nodiscard]] pid_t pid() const {
    pid_t pid = 0;
    std::ifstream(pid_file()) >> pid;
    return pid;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }

private:
  [[nodiscard]] std::string arguments_file() const { return folder_.file("arguments"); }
  [[nodiscard]] std::string pid_file() const { return folder_.file("pid"); }
  testing::TemporaryFolder folder_;
  std::string program_;
};

TEST(ConnectSsh, StartsTheDaemonAndReapsItsChild) {
  FakeSsh ssh("head -c 160 > /dev/null; cat $(dirname $0)/reply; cat");
  pid_t child = 0;
  {
    auto connection = connect(*parse_server_address("ssh://me@gpu1:2222"), {}, ssh.options());
    ASSERT_TRUE(connection.has_value()) << connection.error().message;
    EXPECT_EQ(ssh.arguments(),
              (std::vector<std::string>{"-F", "none", "-o", "BatchMode=yes", "-T", "-p", "2222", "me@gpu1", "/opt/farcl/farcld --stdio"}));
    const std::string text = "echo";
    const ConstBytes part = std::as_bytes(std::span(text));
    ASSERT_EQ(*connection->transport->send(std::span(&part, 1)), 4u);
    ASSERT_EQ(connection->transport->wait(Interest::kReadable, 5s, nullptr), Interest::kReadable);
    std::array<std::byte, 10> buffer{};
    EXPECT_EQ(*connection->transport->receive(buffer), 4u);
    child = ssh.pid();
    EXPECT_EQ(::kill(child, 0), 0);
  }
  EXPECT_EQ(::kill(child, 0), -1) << "the child must be gone and reaped";
}

TEST(ConnectSsh, AnSshThatDoesNotLeaveIsEnded) {
  FakeSsh ssh("trap '' TERM; head -c 160 > /dev/null; cat $(dirname $0)/reply; while :; do sleep 0.1; done");
  auto connection = connect(*parse_server_address("ssh://gpu1"), {}, ssh.options());
  ASSERT_TRUE(connection.has_value()) << connection.error().message;
  const auto start = Clock::now();
  connection->transport.reset();
  EXPECT_LT(Clock::now() - start, 5s);
  EXPECT_EQ(::kill(ssh.pid(), 0), -1);
}

TEST(ConnectSsh, FailuresSayWhatToDo) {
  FakeSsh no_daemon("exit 127");
  auto connection = connect(*parse_server_address("ssh://gpu1"), {}, no_daemon.options());
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code, ErrorCode::kDisconnected);
  EXPECT_NE(connection.error().message.find("FARCL_SSH_DAEMON"), std::string::npos);
  FakeSsh no_login("exit 255");
  connection = connect(*parse_server_address("ssh://gpu1"), {}, no_login.options());
  ASSERT_FALSE(connection.has_value());
  EXPECT_NE(connection.error().message.find("BatchMode"), std::string::npos);
  ConnectOptions missing;
  missing.ssh_command = "/no/such/program";
  connection = connect(*parse_server_address("ssh://gpu1"), {}, missing);
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().system_errno, ENOENT);
}

TEST(ConnectSsh, NamesThatLookLikeOptionsNeverReachIt) {
  FakeSsh ssh("exit 0");
  for (const char* host : {"-oProxyCommand=touch x", "a b", "$(id)", "a;b", ""}) {
    ServerAddress address;
    address.scheme = Scheme::kSsh;
    address.host = host;
    address.text = host;
    const auto connection = connect(address, {}, ssh.options());
    ASSERT_FALSE(connection.has_value());
    EXPECT_EQ(connection.error().code, ErrorCode::kInvalid);
  }
  EXPECT_TRUE(ssh.arguments().empty());
}

TEST(ConnectSsh, AForkedCopyLeavesTheChildAlone) {
  FakeSsh ssh("head -c 160 > /dev/null; cat $(dirname $0)/reply; cat");
  auto connection = connect(*parse_server_address("ssh://gpu1"), {}, ssh.options());
  ASSERT_TRUE(connection.has_value()) << connection.error().message;
  const pid_t copy = ::fork();
  if (copy == 0) {
    connection->transport.reset();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(copy, &status, 0), copy);
  EXPECT_EQ(status, 0);
  const std::string text = "still here";
  const ConstBytes part = std::as_bytes(std::span(text));
  EXPECT_EQ(*connection->transport->send(std::span(&part, 1)), text.size());
  EXPECT_EQ(connection->transport->wait(Interest::kReadable, 5s, nullptr), Interest::kReadable);
  std::array<std::byte, 20> buffer{};
  EXPECT_EQ(*connection->transport->receive(buffer), text.size());
}

} // namespace
} // namespace farcl::net
