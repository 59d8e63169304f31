// Nothing is lost and nothing comes twice, wherever the connection is cut.
#include "link_harness.hpp"

namespace farcl::testing {
namespace {

using net::LoopbackFaults;

Traffic small_session() {
  Traffic traffic;
  traffic.add_message(0);
  traffic.add_message(100);
  traffic.add_bulk(300);
  traffic.add_message(17);
  traffic.add_bulk(1);
  traffic.add_message(64);
  return traffic;
}

/// Bytes that a run without faults sends in one direction.
std::uint64_t bytes_of_undisturbed_run(bool forward) {
  const auto counters = std::make_shared<net::LoopbackCounters>();
  LinkedPair pair([&](int) {
    LoopbackFaults counted;
    counted.counters = counters;
    return forward ? std::pair(counted, LoopbackFaults{}) : std::pair(LoopbackFaults{}, counted);
  });
  Traffic there = small_session();
  there.append_to(pair.first.sender, 1);
  Traffic back = small_session();
  back.append_to(pair.second.sender, 2);
  EXPECT_TRUE(pair.run());
  EXPECT_EQ(pair.connections, 1);
  return counters->bytes;
}

/// A session of which `cut` describes the first connection (both directions), the others being whole.
void run_with_first_connection(const LoopbackFaults& forward, const LoopbackFaults& backward, int expected_connections) {
  LinkedPair pair(
      [&](int connection) { return connection == 0 ? std::pair(forward, backward) : std::pair(LoopbackFaults{}, LoopbackFaults{}); });
  Traffic there = small_session();
  there.append_to(pair.first.sender, 1);
  Traffic back = small_session();
  back.append_to(pair.second.sender, 2);
  ASSERT_TRUE(pair.run());
  there.expect_at(pair.second);
  back.expect_at(pair.first);
  EXPECT_EQ(pair.connections, expected_connections);
  EXPECT_EQ(pair.first.sender.retained_bytes(), 0u);
  EXPECT_EQ(pair.second.sender.retained_bytes(), 0u);
}

TEST(LinkCut, AtEveryByteForward) {
  const auto total = bytes_of_undisturbed_run(true);
  ASSERT_GT(total, 600u);
  for (std::uint64_t cut = 1; cut < total; ++cut) {
    SCOPED_TRACE("cut after byte " + std::to_string(cut));
    LoopbackFaults faults;
    faults.cut_after_bytes = cut;
    run_with_first_connection(faults, {}, 2);
    if (HasFailure()) {
      return;
    }
  }
}

TEST(LinkCut, AtEveryByteBackward) {
  const auto total = bytes_of_undisturbed_run(false);
  for (std::uint64_t cut = 1; cut < total; ++cut) {
    SCOPED_TRACE("cut after byte " + std::to_string(cut));
    LoopbackFaults faults;
    faults.cut_after_bytes = cut;
    run_with_first_connection({}, faults, 2);
    if (HasFailure()) {
      return;
    }
  }
}

TEST(LinkCut, AtEveryByteWithTinyReadsAndWrites) {
  const auto total = bytes_of_undisturbed_run(true);
  for (std::uint64_t cut = 1; cut < total; cut += 3) {
    SCOPED_TRACE("cut after byte " + std::to_string(cut));
    LoopbackFaults forward;
    forward.cut_after_bytes = cut;
    forward.max_bytes_per_call = 1 + cut % 7;
    LoopbackFaults backward;
    backward.max_bytes_per_call = 1 + cut % 5;
    run_with_first_connection(forward, backward, 2);
    if (HasFailure()) {
      return;
    }
  }
}

TEST(LinkCut, OneByteAtATime) {
  LoopbackFaults one_byte;
  one_byte.max_bytes_per_call = 1;
  run_with_first_connection(one_byte, one_byte, 1);
}

TEST(LinkCut, EveryFewKilobytesOfBulkInBothDirections) {
  // Far more cuts than frames: a 256 KiB chunk needs a connection that lives that long, so these are longer than one.
  Traffic there;
  Traffic back;
  for (int i = 0; i < 4; ++i) {
    there.add_message(30);
    there.add_bulk((1u << 20) + 12345);
    back.add_bulk(700'000);
    back.add_message(20'000);
  }
  LinkedPair pair([](int connection) {
    LoopbackFaults forward;
    LoopbackFaults backward;
    forward.cut_after_bytes = 300'000 + 4096 * static_cast<std::uint64_t>(connection % 64);
    backward.cut_after_bytes = 310'000 + 4096 * static_cast<std::uint64_t>(connection % 61);
    forward.capacity_bytes = backward.capacity_bytes = 50'000;
    return std::pair(forward, backward);
  });
  there.append_to(pair.first.sender, 3);
  back.append_to(pair.second.sender, 4);
  ASSERT_TRUE(pair.run());
  EXPECT_GT(pair.connections, 8);
  there.expect_at(pair.second);
  back.expect_at(pair.first);
}

TEST(LinkCut, AtEveryFourKilobytesOfOneTransfer) {
  const std::uint64_t kBytes = 600'000;
  for (std::uint64_t cut = 4096; cut < kBytes; cut += 4096) {
    SCOPED_TRACE("cut after byte " + std::to_string(cut));
    Traffic there;
    there.add_bulk(kBytes);
    LinkedPair pair([&](int connection) {
      LoopbackFaults faults;
      faults.cut_after_bytes = connection == 0 ? cut : 0;
      return std::pair(faults, LoopbackFaults{});
    });
    there.append_to(pair.first.sender, cut);
    ASSERT_TRUE(pair.run());
    ASSERT_EQ(pair.connections, 2);
    there.expect_at(pair.second);
    if (HasFailure()) {
      return;
    }
  }
}

class RandomCuts : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomCuts, LoseNothing) {
  std::mt19937_64 random(GetParam());
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  Traffic there;
  Traffic back;
  for (int i = 0; i < 300; ++i) {
    Traffic& traffic = below(2) == 0 ? there : back;
    switch (below(8)) {
    case 0: traffic.add_bulk(1 + below(400'000)); break;
    case 1: traffic.add_message(below(protocol::kMaxInlineBytes)); break;
    default: traffic.add_message(below(200));
    }
  }
  LinkedPair pair([&](int) {
    const auto faults = [&] {
      LoopbackFaults one;
      one.cut_after_bytes = 1 + below(below(3) == 0 ? 2'000 : 1'500'000);
      one.max_bytes_per_call = below(3) == 0 ? 1 + below(10'000) : 0;
      one.capacity_bytes = 1 + below(200'000);
      return one;
    };
    auto forward = faults();
    return std::pair(forward, faults());
  });
  there.append_to(pair.first.sender, GetParam());
  back.append_to(pair.second.sender, GetParam() + 1);
  ASSERT_TRUE(pair.run());
  there.expect_at(pair.second);
  back.expect_at(pair.first);
  EXPECT_GT(pair.connections, 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomCuts, ::testing::Range<std::uint64_t>(1, 13));

} // namespace
} // namespace farcl::testing
