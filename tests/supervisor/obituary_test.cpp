#include "daemon/supervisor/obituary.hpp"

#include "farcl/protocol/hello.hpp"

#include <csignal>
#include <gtest/gtest.h>

namespace farcl::daemon {
namespace {
using namespace std::chrono_literals;

class ObituaryTest : public ::testing::Test {
protected:
  SharedPage<WorkerPage> shared_ = std::move(SharedPage<WorkerPage>::create("test").value());
  WorkerPage& page_ = *shared_.memory;
};

TEST_F(ObituaryTest, NamesTheOnlyKernel) {
  page_.running[3].begin("wild");
  EXPECT_EQ(describe_death({true, SIGSEGV}, page_), "kernel 'wild' crashed (segmentation fault)");
  page_.running[3].end();
  EXPECT_EQ(describe_death({true, SIGSEGV}, page_), "the session's process crashed (segmentation fault)");
}

TEST_F(ObituaryTest, NamesTheKernelThatTheFaultHandlerSaw) {
  page_.running[0].begin("older");
  page_.running[1].begin("guilty");
  page_.faulted_slot = 2;
  EXPECT_EQ(describe_death({true, SIGBUS}, page_), "kernel 'guilty' crashed (bus error)");
}

TEST_F(ObituaryTest, AdmitsThatItDoesNotKnowWhichKernel) {
  page_.running[0].begin("a");
  page_.running[1].begin("b");
  EXPECT_EQ(describe_death({true, SIGSEGV}, page_), "kernel 'a' (or one of 1 others) crashed (segmentation fault)");
}

TEST_F(ObituaryTest, ANonsensicalFaultedSlotIsIgnored) {
  page_.running[0].begin("a");
  page_.faulted_slot = 0xffff'ffff;
  EXPECT_EQ(describe_death({true, SIGSEGV}, page_), "kernel 'a' crashed (segmentation fault)");
}

TEST_F(ObituaryTest, LastWordsComeFirst) {
  page_.running[0].begin("a");
  page_.leave_last_words("out of memory");
  EXPECT_EQ(describe_death({true, SIGABRT}, page_), "out of memory");
}

TEST_F(ObituaryTest, TellsSignalsAndExitCodes) {
  EXPECT_EQ(describe_death({false, 3}, page_), "the session's process failed (exit code 3)");
  EXPECT_EQ(describe_death({true, SIGABRT}, page_), "the session's process was ended (aborted)");
  EXPECT_EQ(describe_death({true, SIGTERM}, page_), "the session's process was ended (signal 15)");
}

protocol::HelloBytes proving(const SessionSecret& secret) {
  auto hello = protocol::encode_hello({});
  net::prove_session(hello, secret);
  return hello;
}

TEST(ObituaryTableTest, NeedsTheSecretAndForgetsInTime) {
  ObituaryTable table(10s);
  const auto now = ObituaryTable::Clock::now();
  const SessionSecret secret{1, 2, 3};
  table.add({7}, secret, "it died", now);
  EXPECT_EQ(table.find({7}, proving(secret), now + 9s), "it died");
  EXPECT_EQ(table.find({7}, proving(SessionSecret{1, 2, 4}), now), std::nullopt);
  EXPECT_EQ(table.find({8}, proving(secret), now), std::nullopt);
  EXPECT_EQ(table.find({7}, proving(secret), now + 10s), std::nullopt);
}

TEST(ObituaryTableTest, IsBounded) {
  ObituaryTable table(1000s);
  const auto now = ObituaryTable::Clock::now();
  for (std::size_t i = 0; i <= ObituaryTable::kMaxObituaries; ++i) {
    table.add({static_cast<std::uint8_t>(i % 256), static_cast<std::uint8_t>(i / 256)}, {}, std::to_string(i), now);
  }
  EXPECT_EQ(table.find({0, 0}, proving({}), now), std::nullopt);
  EXPECT_EQ(table.find({1, 0}, proving({}), now), "1");
}

} // namespace
} // namespace farcl::daemon
