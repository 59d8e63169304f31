// Listening sockets and the passing of descriptors.
#include "farcl/net/accept.hpp"

#include "temporary_folder.hpp"

#include <array>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <vector>

namespace farcl::net {
namespace {

bool has_flag(int fd, int get, int flag) { return (::fcntl(fd, get) & flag) != 0; }

int connect_to(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), path.size());
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(socket.get(), reinterpret_cast<sockaddr*>(&name), sizeof name);
}

TEST(ListenTcp, TakesAFreePort) {
  const auto socket = listen_tcp({"127.0.0.1", 0});
  ASSERT_TRUE(socket.has_value());
  const auto port = bound_port(socket->get());
  ASSERT_TRUE(port.has_value());
  EXPECT_NE(*port, 0);
  EXPECT_TRUE(has_flag(socket->get(), F_GETFD, FD_CLOEXEC));
  EXPECT_TRUE(has_flag(socket->get(), F_GETFL, O_NONBLOCK));
  const auto second = listen_tcp({"127.0.0.1", *port});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().system_errno, EADDRINUSE);
}

TEST(ListenTcp, RefusesAnAddressThatIsNotOurs) { EXPECT_FALSE(listen_tcp({"192.0.2.1", 0}).has_value()); }

TEST(IsLoopback, KnowsTheInterface) {
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_TRUE(is_loopback("127.9.8.7"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_TRUE(is_loopback("localhost"));
  EXPECT_FALSE(is_loopback("0.0.0.0"));
  EXPECT_FALSE(is_loopback("::"));
  EXPECT_FALSE(is_loopback(""));
  EXPECT_FALSE(is_loopback("192.0.2.1"));
  EXPECT_FALSE(is_loopback("no-such-name.invalid"));
}

TEST(ListenUnix, SetsTheMode) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("s");
  const auto before = ::umask(0077);
  const auto socket = listen_unix({path, 0660, ""});
  ::umask(before);
  ASSERT_TRUE(socket.has_value()) << socket.error().message;
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0660u);
  EXPECT_EQ(connect_to(path), 0);
  EXPECT_TRUE(has_flag(socket->get(), F_GETFD, FD_CLOEXEC));
}

TEST(ListenUnix, ReplacesAStaleFileAndSparesALivingOne) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("s");
  auto first = listen_unix({path, 0600, ""});
  ASSERT_TRUE(first.has_value());
  auto second = listen_unix({path, 0600, ""});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kRefused);
  EXPECT_EQ(connect_to(path), 0);
  first->reset(); // as if killed: the file stays
  second = listen_unix({path, 0600, ""});
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(connect_to(path), 0);
}

TEST(ListenUnix, SparesFilesThatAreNoSockets) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("precious");
  std::ofstream(path) << "data";
  EXPECT_FALSE(listen_unix({path, 0600, ""}).has_value());
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(ListenUnix, SaysWhatIsWrong) {
  const testing::TemporaryFolder folder;
  EXPECT_FALSE(listen_unix({"", 0600, ""}).has_value());
  EXPECT_FALSE(listen_unix({folder.file(std::string(200, 'x')), 0600, ""}).has_value());
  EXPECT_FALSE(listen_unix({folder.file("no/such/folder"), 0600, ""}).has_value());
  EXPECT_FALSE(listen_unix({folder.file("s"), 0600, "no-such-group-here"}).has_value());
  EXPECT_FALSE(std::filesystem::exists(folder.file("s"))) << "nothing is left behind";
}

TEST(ListenUnix, OfManyThatStartAtOnceOneWins) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("s");
  ASSERT_TRUE(listen_unix({path, 0600, ""}).has_value()); // and it is stale now
  std::vector<Result<UniqueFd>> results;
  for (int i = 0; i < 8; ++i) {
    results.emplace_back(fail(ErrorCode::kInternal, ""));
  }
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] { result = listen_unix({path, 0600, ""}); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(std::count_if(results.begin(), results.end(), [](const auto& one) { return one.has_value(); }), 1);
  EXPECT_EQ(connect_to(path), 0);
}

class FdPassing : public ::testing::TestWithParam<int> {
protected:
  void SetUp() override {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, GetParam() | SOCK_CLOEXEC, 0, ends), 0);
    first.reset(ends[0]);
    second.reset(ends[1]);
  }
  UniqueFd first;
  UniqueFd second;
};

TEST_P(FdPassing, BytesAndDescriptorsArriveTogether) {
  int pipe_ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const UniqueFd read_end(pipe_ends[0]);
  UniqueFd write_end(pipe_ends[1]);
  const std::array<int, 2> fds = {write_end.get(), write_end.get()};
  const std::string text = "take these";
  ASSERT_TRUE(send_with_fds(first.get(), std::as_bytes(std::span(text)), fds).has_value());
  write_end.reset();
  std::array<std::byte, 64> buffer{};
  auto received = receive_with_fds(second.get(), buffer, 4);
  ASSERT_TRUE(received.has_value()) << received.error().message;
  ASSERT_EQ(received->size_bytes, text.size());
  EXPECT_EQ(std::memcmp(buffer.data(), text.data(), text.size()), 0);
  ASSERT_EQ(received->fds.size(), 2u);
  EXPECT_TRUE(has_flag(received->fds[0].get(), F_GETFD, FD_CLOEXEC));
  ASSERT_EQ(::write(received->fds[1].get(), "x", 1), 1);
  char c = 0;
  EXPECT_EQ(::read(read_end.get(), &c, 1), 1);
  EXPECT_EQ(c, 'x');
}

TEST_P(FdPassing, WorksWithoutDescriptorsAndSeesTheEnd) {
  const std::string text = "plain";
  ASSERT_TRUE(send_with_fds(first.get(), std::as_bytes(std::span(text)), {}).has_value());
  std::array<std::byte, 64> buffer{};
  EXPECT_EQ(receive_with_fds(second.get(), buffer, 0)->size_bytes, 5u);
  first.reset();
  const auto end = receive_with_fds(second.get(), buffer, 0);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->size_bytes, 0u);
}

TEST_P(FdPassing, MoreThanExpectedIsRefusedAndClosed) {
  const auto count_open = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  const std::array<int, 3> fds = {first.get(), first.get(), first.get()};
  const std::string text = "x";
  const auto before = count_open();
  ASSERT_TRUE(send_with_fds(first.get(), std::as_bytes(std::span(text)), fds).has_value());
  std::array<std::byte, 64> buffer{};
  const auto received = receive_with_fds(second.get(), buffer, 2);
  ASSERT_FALSE(received.has_value());
  EXPECT_EQ(received.error().code, ErrorCode::kLimit);
  EXPECT_EQ(count_open(), before);
}

TEST_P(FdPassing, APeerThatDoesNotReadCannotBlockUs) {
  const std::string text(1000, 'x');
  Status status;
  for (int i = 0; i < 100'000 && status; ++i) {
    status = send_with_fds(first.get(), std::as_bytes(std::span(text)), {});
  }
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kTimeout);
}

INSTANTIATE_TEST_SUITE_P(Kinds, FdPassing, ::testing::Values(SOCK_STREAM, SOCK_SEQPACKET),
                         [](const auto& kind) { return kind.param == SOCK_STREAM ? "stream" : "seqpacket"; });

} // namespace
} // namespace farcl::net
