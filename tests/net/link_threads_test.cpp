// The link as the driver uses it: one thread appends and flushes under a lock, another one reads and acknowledges.
#include "link_harness.hpp"

#include "farcl/net/accept.hpp"

#include <mutex>
#include <sys/socket.h>
#include <thread>

namespace farcl::testing {
namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t kMessages = 20'000;

/// An end whose sender is shared by a writing and a reading thread.
class SharedEnd final : public FrameSink {
public:
  explicit SharedEnd(UniqueFd socket)
      : transport_(std::move(*net::adopt_socket(std::move(socket)))), sender_(receiver_.received_sequence()) {}

  void write_all() {
    for (std::uint64_t id = 1; id <= kMessages; ++id) {
      protocol::CreateUserEvent message;
      message.event.value = id;
      const std::lock_guard<std::mutex> held(mutex_);
      sender_.append(message);
      if (id % 16 == 0 || id == kMessages) {
        flush();
      }
    }
  }
  void read_all() {
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < limit) {
      const auto polled = receiver_.poll(*transport_, *this);
      ASSERT_TRUE(polled.has_value()) << polled.error().message;
      net::Interest interest = net::Interest::kReadable;
      {
        const std::lock_guard<std::mutex> held(mutex_);
        sender_.append_acknowledgement();
        if (!flush()) {
          interest = interest | net::Interest::kWritable;
        }
        if (received_ == kMessages && sender_.acknowledged_sequence() == kMessages && sender_.unsent_bytes() == 0) {
          return;
        }
      }
      if (*polled == 0) {
        (void)transport_->wait(interest, 10ms, nullptr);
      }
    }
    ADD_FAILURE() << "not finished in time";
  }

  Status on_message(protocol::Opcode, ConstBytes payload) override {
    protocol::CreateUserEvent message;
    EXPECT_TRUE(Reader(payload).read(message));
    EXPECT_EQ(message.event.value, ++received_);
    return {};
  }
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader&, std::size_t) override {
    return fail(ErrorCode::kInvalid, "no bulk here");
  }
  Status on_bulk(const protocol::BulkHeader&, std::size_t) override { return {}; }
  Status on_acknowledged(std::uint64_t sequence) override {
    const std::lock_guard<std::mutex> held(mutex_);
    return sender_.on_acknowledged(sequence);
  }
  void on_ping(std::uint64_t) override {}
  void on_pong(std::uint64_t) override {}

private:
  bool flush() {
    const auto all = sender_.flush(*transport_);
    EXPECT_TRUE(all.has_value());
    return all && *all;
  }
  net::TransportPtr transport_;
  FrameReceiver receiver_;
  std::mutex mutex_;
  FrameSender sender_;
  std::uint64_t received_ = 0; ///< of the reading thread
};

TEST(LinkThreads, WritersAndReadersOnBothEnds) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  SharedEnd first{UniqueFd(ends[0])};
  SharedEnd second{UniqueFd(ends[1])};
  std::vector<std::thread> threads;
  for (SharedEnd* end : {&first, &second}) {
    threads.emplace_back([end] { end->write_all(); });
    threads.emplace_back([end] { end->read_all(); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

} // namespace
} // namespace farcl::testing
