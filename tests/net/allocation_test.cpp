// In steady state neither sending nor receiving allocates memory, and a burst does not leave much behind.
#include "link_harness.hpp"

#include "farcl/net/accept.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <sys/socket.h>

namespace {
std::atomic<std::uint64_t> allocations{0};
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace farcl::testing {
namespace {

/// A sink that keeps nothing.
class CountingSink final : public FrameSink {
public:
  explicit CountingSink(FrameSender& sender) : sender_(sender) {}
  Status on_message(protocol::Opcode, ConstBytes) override {
    ++messages;
    return {};
  }
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader&, std::size_t size) override {
    return MutableBytes(scratch_.data(), size);
  }
  Status on_bulk(const protocol::BulkHeader&, std::size_t) override { return {}; }
  Status on_acknowledged(std::uint64_t sequence) override { return sender_.on_acknowledged(sequence); }
  void on_ping(std::uint64_t) override {}
  void on_pong(std::uint64_t) override {}
  std::uint64_t messages = 0;

private:
  FrameSender& sender_;
  ByteVector scratch_ = ByteVector(protocol::kBulkChunkBytes);
};

std::pair<net::TransportPtr, net::TransportPtr> socket_pair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {std::move(*net::adopt_socket(UniqueFd(ends[0]))), std::move(*net::adopt_socket(UniqueFd(ends[1])))};
}

TEST(Allocation, NoneInSteadyState) {
  auto transports = socket_pair();
  FrameReceiver first_receiver;
  FrameReceiver second_receiver;
  FrameSender first(first_receiver.received_sequence());
  FrameSender second(second_receiver.received_sequence());
  CountingSink first_sink(first);
  CountingSink second_sink(second);
  protocol::CreateBuffer message;
  const ByteVector data(40);
  message.data = data;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      for (int burst = 0; burst < 1 + i % 30; ++burst) {
        first.append(message);
      }
      ASSERT_TRUE(*first.flush(*transports.first));
      ASSERT_TRUE(second_receiver.poll(*transports.second, second_sink).has_value());
      second.append(protocol::Goodbye{});
      ASSERT_TRUE(*second.flush(*transports.second));
      ASSERT_TRUE(first_receiver.poll(*transports.first, first_sink).has_value());
    }
  };
  rounds(2000);
  const std::uint64_t before = allocations;
  rounds(5000);
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_GT(second_sink.messages, 70'000u);
  EXPECT_EQ(first.retained_bytes(), 0u);
}

} // namespace
} // namespace farcl::testing
