// Trace points from the stamp to the table.
#include "launch_trace.hpp"
#include "temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>

namespace farcl::tools {
namespace {

using enum TracePoint;

/// One launch that begins at `at` (ns). The worker has the bytes before the client's write has returned.
void add_launch(std::vector<TraceStamp>& client, std::vector<TraceStamp>& worker, std::uint64_t at, bool in_one_write) {
  client.insert(client.end(), {{at, kCalled}, {at + 100, kEncoded}});
  if (in_one_write) {
    client.insert(client.end(), {{at + 150, kWaiting}, {at + 200, kSending}, {at + 3200, kSent}});
  } else {
    client.insert(client.end(),
                  {{at + 200, kSending}, {at + 3200, kSent}, {at + 3300, kWaiting}, {at + 3400, kSending}, {at + 5400, kSent}});
  }
  worker.insert(worker.end(), {{at + 2200, kReceived}, {at + 2300, kDecoded}, {at + 2500, kRunning}, {at + 2600, kRan}});
  if (!in_one_write) {
    worker.push_back({at + 5000, kReceived});
  }
  worker.insert(worker.end(), {{at + 5300, kReplied}, {at + 5400, kSending}, {at + 7400, kSent}});
  client.insert(client.end(), {{at + 8000, kReceived}, {at + 8300, kReturning}});
}

double step(const LaunchTable& table, std::string_view begin_of_name) {
  for (const LaunchStep& one : table.steps) {
    if (one.name.starts_with(begin_of_name)) {
      return one.median_us;
    }
  }
  ADD_FAILURE() << "no step " << begin_of_name;
  return -1;
}

TEST(LaunchTrace, StepsAddUpToTheWhole) {
  for (const bool in_one_write : {true, false}) {
    std::vector<TraceStamp> client;
    std::vector<TraceStamp> worker;
    for (std::uint64_t i = 0; i < 10; ++i) {
      add_launch(client, worker, 1'000'000 + i * 20'000, in_one_write);
    }
    const LaunchTable table = tabulate_launches(client, worker);
    EXPECT_EQ(table.launches, 10u);
    EXPECT_NEAR(table.whole.median_us, 8.3, 1e-9);
    const double sum = std::accumulate(table.steps.begin(), table.steps.end(), 0.0,
                                       [](double so_far, const LaunchStep& one) { return so_far + one.median_us; });
    EXPECT_NEAR(sum, 8.3, 1e-9);
    EXPECT_NEAR(step(table, "encode"), 0.1, 1e-9);
    EXPECT_NEAR(step(table, "write"), 2.0, 1e-9); // until the worker has it
    EXPECT_NEAR(step(table, "decode"), 0.1, 1e-9);
    EXPECT_NEAR(step(table, "run"), 0.1, 1e-9);
    EXPECT_NEAR(step(table, "wait for the message"), in_one_write ? 0 : 2.4, 1e-9);
    EXPECT_NEAR(step(table, "wake-up: the way back"), 0.6, 1e-9);
  }
}

TEST(LaunchTrace, LaunchesWithoutAllStampsAreLeftOut) {
  std::vector<TraceStamp> client;
  std::vector<TraceStamp> worker;
  add_launch(client, worker, 1'000'000, true);
  add_launch(client, worker, 2'000'000, true);
  std::erase_if(worker, [](const TraceStamp& one) { return one.ns > 2'000'000 && one.point == kRan; });
  EXPECT_EQ(tabulate_launches(client, worker).launches, 1u);
  EXPECT_EQ(tabulate_launches(client, {}).launches, 0u);
  EXPECT_EQ(tabulate_launches({}, worker).launches, 0u);
}

TEST(Trace, KeepsTheNewestStampsOfAProcess) {
  auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder);
  trace(kRan); // off: goes nowhere
  ASSERT_TRUE(start_trace(folder->path(), "test"));
  for (std::uint32_t i = 0; i < kTraceCapacity; ++i) {
    trace(kSending);
  }
  trace(kSent);
  trace(kReplied);
  const auto file = *std::filesystem::directory_iterator(folder->path());
  const auto stamps = read_trace(file.path());
  ASSERT_TRUE(stamps) << stamps.error().message;
  ASSERT_EQ(stamps->size(), kTraceCapacity);
  EXPECT_EQ(stamps->front().point, kSending);
  EXPECT_EQ((*stamps)[kTraceCapacity - 2].point, kSent);
  EXPECT_EQ(stamps->back().point, kReplied);
  EXPECT_TRUE(std::is_sorted(stamps->begin(), stamps->end(), [](const TraceStamp& a, const TraceStamp& b) { return a.ns < b.ns; }));
}

TEST(Trace, AFileThatIsNoTraceIsAnError) {
  auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder);
  std::ofstream(folder->path() / "short") << "x";
  EXPECT_FALSE(read_trace(folder->path() / "short"));
  EXPECT_FALSE(read_trace(folder->path() / "missing"));
}

} // namespace
} // namespace farcl::tools
