// The transport through rings: sleeping and waking, the death of the other end, a peer that scribbles, and the link over it.
#include "link_harness.hpp"
#include "ring_ends.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <sys/wait.h>
#include <thread>

namespace farcl::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using net::Interest;
using net::Transport;
using net::TransportPtr;

Result<std::size_t> send(Transport& transport, ConstBytes part) { return transport.send(std::span(&part, 1)); }

/// Sends `value`, and receives one, asleep until it comes.
void exchange(Transport& transport, std::uint64_t value, std::uint64_t& received) {
  ASSERT_EQ(send(transport, std::as_bytes(std::span(&value, 1))).value(), sizeof value);
  for (std::size_t have = 0; have < sizeof received;) {
    auto got = transport.receive(std::as_writable_bytes(std::span(&received, 1)).subspan(have));
    ASSERT_TRUE(got.has_value()) << got.error().message;
    have += *got;
    if (*got == 0) {
      ASSERT_EQ(transport.wait(Interest::kReadable, 10s, nullptr), Interest::kReadable) << "a wake-up was lost";
    }
  }
}

TEST(RingTransport, NoWakeUpIsLost) {
  auto ends = make_ring_ends();
  constexpr std::uint64_t kRounds = 20'000;
  std::thread server([&] {
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      std::uint64_t got = 0;
      exchange(*ends.server, i, got);
      ASSERT_EQ(got, i);
    }
  });
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    std::uint64_t got = 0;
    exchange(*ends.client, i, got);
    ASSERT_EQ(got, i);
  }
  server.join();
}

TEST(RingTransport, TwoSleepersBothHear) {
  auto ends = make_ring_ends();
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> woken{0};
    const auto sleeper = [&] {
      if (has(ends.client->wait(Interest::kReadable, 10s, nullptr), Interest::kReadable)) {
        ++woken;
      }
    };
    std::thread first(sleeper);
    std::thread second(sleeper);
    std::this_thread::sleep_for(std::chrono::microseconds(round * 5));
    ASSERT_EQ(send(*ends.server, ByteVector(1)).value(), 1u);
    first.join();
    second.join();
    ASSERT_EQ(woken, 2);
    std::byte one{};
    ASSERT_EQ(ends.client->receive(MutableBytes(&one, 1)).value(), 1u);
    ASSERT_EQ(ends.client->receive(MutableBytes(&one, 1)).value(), 0u);
  }
}

TEST(RingTransport, AFullRingEndsItsWriterSleepWhenItIsRead) {
  auto ends = make_ring_ends();
  const ByteVector block(1u << 20);
  ASSERT_EQ(send(*ends.client, block).value(), net::kRingBytes);
  std::thread reader([&] {
    std::this_thread::sleep_for(20ms);
    ByteVector into(net::kRingBytes);
    ASSERT_EQ(ends.server->receive(into).value(), net::kRingBytes);
  });
  EXPECT_EQ(ends.client->wait(Interest::kWritable, 10s, nullptr), Interest::kWritable);
  reader.join();
}

TEST(RingTransport, TheDeathOfTheOtherProcessEndsASleepAndASpin) {
  for (const bool spins : {false, true}) {
    auto ends = make_ring_ends();
    const pid_t child = ::fork();
    if (child == 0) { // the server's process: it has the descriptor of its end, and no mapping of the client's
      for (;;) {
        ::pause();
      }
    }
    ends.server.reset();
    std::thread killer([&] {
      std::this_thread::sleep_for(30ms);
      ::kill(child, SIGKILL);
    });
    std::byte one{};
    auto got = ends.client->receive(MutableBytes(&one, 1));
    const auto limit = Clock::now() + 10s;
    while (got && Clock::now() < limit) {
      if (!spins) {
        EXPECT_EQ(ends.client->wait(Interest::kReadable, 10s, nullptr), Interest::kReadable);
      }
      got = ends.client->receive(MutableBytes(&one, 1));
    }
    ASSERT_FALSE(got.has_value());
    EXPECT_TRUE(got.error().code == ErrorCode::kClosed || got.error().code == ErrorCode::kDisconnected) << got.error().message;
    EXPECT_FALSE(send(*ends.client, ByteVector(1)).has_value());
    killer.join();
    ::waitpid(child, nullptr, 0);
  }
}

TEST(RingTransport, AChildHasNoMappingAndDropsItsCopyWithoutHarm) {
  auto ends = make_ring_ends();
  const pid_t child = ::fork();
  if (child == 0) {
    ends.client.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(send(*ends.client, ByteVector(7)).value(), 7u);
  ByteVector into(10);
  EXPECT_EQ(ends.server->receive(into).value(), 7u);
}

TEST(RingTransport, APeerThatScribblesGetsAnError) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    auto ends = make_ring_ends();
    auto* words = reinterpret_cast<std::atomic<std::uint64_t>*>(ends.third.data());
    ByteVector into(net::kRingBytes);
    bool failed = false;
    for (int step = 0; step < 256 && !failed; ++step) {
      words[8 * (random() % 8)].store(random() % 3 == 0 ? random() : random() % (2 * net::kRingBytes));
      const auto sent = send(*ends.server, ConstBytes(into).first(random() % 5000));
      const auto got = ends.server->receive(MutableBytes(into).first(1 + random() % into.size()));
      (void)ends.server->wait(Interest::kReadable | Interest::kWritable, 0ns, nullptr);
      for (const Error* error : {sent ? nullptr : &sent.error(), got ? nullptr : &got.error()}) {
        if (error != nullptr) {
          failed = true;
          EXPECT_EQ(error->code, ErrorCode::kInvalid) << error->message;
        }
      }
    }
    ASSERT_TRUE(failed);
  }
}

TEST(RingTransport, AFloodedDoorbellHoldsNobodyUp) {
  auto ends = make_ring_ends();
  auto* control = reinterpret_cast<net::RingControl*>(ends.third.data());
  std::atomic<bool> stop{false};
  std::thread scribbler([&] { // both ends believe all the time that the other one sleeps
    while (!stop) {
      for (int i = 0; i < 2; ++i) {
        control[i].reader_sleeps.store(1);
        control[i].writer_sleeps.store(1);
      }
    }
  });
  const ByteVector some(100);
  ByteVector into(1000);
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_EQ(send(*ends.client, some).value(), some.size());
    ASSERT_EQ(ends.server->receive(into).value(), some.size());
  }
  stop = true;
  scribbler.join();
  EXPECT_EQ(ends.server->wait(Interest::kReadable, 20ms, nullptr), Interest::kNone);
}

/// Cuts the connection after a number of bytes that this end has sent.
class Cut final : public Transport {
public:
  Cut(TransportPtr inner, std::uint64_t after_bytes) : inner_(std::move(inner)), left_(after_bytes) {}
  Result<std::size_t> send(std::span<const ConstBytes> parts) override {
    if (left_ == 0) {
      inner_->shutdown();
      return fail(ErrorCode::kDisconnected, "cut");
    }
    const ConstBytes part = parts.front().first(std::min<std::uint64_t>(parts.front().size(), left_));
    auto sent = inner_->send(std::span(&part, 1));
    left_ -= sent ? *sent : 0;
    return sent;
  }
  Result<std::size_t> receive(MutableBytes into) override { return inner_->receive(into); }
  Interest wait(Interest interest, std::chrono::nanoseconds timeout, net::Waker* waker) override {
    return inner_->wait(interest, timeout, waker);
  }
  void shutdown() noexcept override { inner_->shutdown(); }
  [[nodiscard]] std::string description() const override { return inner_->description(); }

private:
  TransportPtr inner_;
  std::uint64_t left_;
};

constexpr std::uint64_t kNever = ~std::uint64_t{0};

std::pair<TransportPtr, TransportPtr> cut_rings(std::uint64_t forward, std::uint64_t backward) {
  auto ends = make_ring_ends();
  return {std::make_unique<Cut>(std::move(ends.client), forward), std::make_unique<Cut>(std::move(ends.server), backward)};
}

TEST(LinkOverRings, CutAtEveryByteLosesNothing) {
  for (const bool forward : {true, false}) {
    for (std::uint64_t cut = 1; cut < 600; ++cut) {
      SCOPED_TRACE("cut after byte " + std::to_string(cut));
      Traffic there;
      Traffic back;
      for (Traffic* one : {&there, &back}) {
        one->add_message(0);
        one->add_bulk(300);
        one->add_message(100);
        one->add_bulk(1);
      }
      LinkedPair pair(Connect([&](int connection) {
        const std::uint64_t at = connection == 0 ? cut : kNever;
        return forward ? cut_rings(at, kNever) : cut_rings(kNever, at);
      }));
      there.append_to(pair.first.sender, 1);
      back.append_to(pair.second.sender, 2);
      ASSERT_TRUE(pair.run());
      there.expect_at(pair.second);
      back.expect_at(pair.first);
      ASSERT_EQ(pair.connections, 2);
    }
  }
}

TEST(LinkOverRings, RandomCutsOfLargeTrafficLoseNothing) {
  std::mt19937_64 random(9);
  Traffic there;
  Traffic back;
  for (int i = 0; i < 200; ++i) {
    Traffic& traffic = random() % 2 == 0 ? there : back;
    random() % 4 == 0 ? traffic.add_bulk(1 + random() % 1'500'000) : traffic.add_message(random() % 20'000);
  }
  LinkedPair pair(Connect([&](int) { return cut_rings(1 + random() % 3'000'000, 1 + random() % 3'000'000); }));
  there.append_to(pair.first.sender, 3);
  back.append_to(pair.second.sender, 4);
  ASSERT_TRUE(pair.run());
  there.expect_at(pair.second);
  back.expect_at(pair.first);
  EXPECT_GT(pair.connections, 8);
}

} // namespace
} // namespace farcl::testing
