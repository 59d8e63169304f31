#include "daemon/supervisor/hello_table.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace farcl::daemon {
namespace {
using namespace std::chrono_literals;

class HelloTableTest : public ::testing::Test {
protected:
  HelloTableTest()
      : loop_(std::move(EventLoop::create().value())),
        table_(
            *loop_, 50ms, [this](HelloTable::Arrival arrival) { arrivals_.push_back(std::move(arrival)); },
            [this](const Peer& peer, const char* why) { dropped_.push_back(peer.text + ": " + why); }) {}

  /// Returns the client's end.
  UniqueFd connect(const std::string& name, const std::string& source) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    table_.add(UniqueFd(ends[0]), {name, source});
    return UniqueFd(ends[1]);
  }
  void run_for(std::chrono::milliseconds time) {
    loop_->run_after(time, [this] { loop_->stop(); });
    ASSERT_TRUE(loop_->run());
  }

  std::unique_ptr<EventLoop> loop_;
  HelloTable table_;
  std::vector<HelloTable::Arrival> arrivals_;
  std::vector<std::string> dropped_;
};

TEST_F(HelloTableTest, ReadsTheHelloAndNotOneByteMore) {
  UniqueFd client = connect("a", "s");
  const auto bytes = protocol::encode_hello({});
  ASSERT_EQ(::write(client.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ASSERT_EQ(::write(client.get(), "rest", 4), 4);
  run_for(20ms);
  ASSERT_EQ(arrivals_.size(), 1u);
  EXPECT_EQ(arrivals_[0].bytes, bytes);
  char rest[8] = {};
  EXPECT_EQ(::read(arrivals_[0].socket.get(), rest, sizeof rest), 4);
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(HelloTableTest, WrongMagicIsDroppedAtItsFirstWrongByte) {
  UniqueFd client = connect("a", "s");
  ASSERT_EQ(::write(client.get(), "FARCX", 5), 5);
  run_for(20ms);
  ASSERT_EQ(dropped_.size(), 1u);
  EXPECT_EQ(dropped_[0], "a: it does not speak FarCL");
}

TEST_F(HelloTableTest, TimesOut) {
  const UniqueFd client = connect("a", "s");
  run_for(100ms);
  ASSERT_EQ(dropped_.size(), 1u);
  EXPECT_EQ(dropped_[0], "a: no hello came in time");
}

TEST_F(HelloTableTest, ACrowdLosesItsOwnOldestAndNotSomebodyElse) {
  std::vector<UniqueFd> clients;
  clients.push_back(connect("the lonely one", "far away"));
  for (std::size_t i = 1; i < HelloTable::kMaxWaiting + 3; ++i) {
    clients.push_back(connect("crowd " + std::to_string(i), "crowd"));
  }
  EXPECT_EQ(table_.size(), HelloTable::kMaxWaiting);
  ASSERT_EQ(dropped_.size(), 3u);
  EXPECT_EQ(dropped_[0], "crowd 1: too many connections are waiting");
  EXPECT_EQ(dropped_[1], "crowd 2: too many connections are waiting");
}
} // namespace
} // namespace farcl::daemon
