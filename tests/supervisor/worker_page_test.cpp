#include "daemon/common/control_messages.hpp"
#include "daemon/common/worker_page.hpp"

#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace farcl::daemon {
namespace {
TEST(SharedPageTest, IsSealedAndChecked) {
  auto page = std::move(SharedPage<WorkerPage>::create("test").value());
  EXPECT_NE(::ftruncate(page.fd(), 0), 0);
  EXPECT_NE(::ftruncate(page.fd(), 1 << 20), 0);
  auto second = SharedPage<WorkerPage>::open(UniqueFd(::dup(page.fd())));
  ASSERT_TRUE(second);
  page.memory->heartbeat = 7;
  EXPECT_EQ(second->memory->heartbeat, 7u);
  EXPECT_FALSE(SharedPage<SpinPermits>::open(UniqueFd(::dup(page.fd())))) << "another size";
  UniqueFd unsealed(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(unsealed.get(), sizeof(WorkerPage)), 0);
  EXPECT_FALSE(SharedPage<WorkerPage>::open(std::move(unsealed))) << "may shrink under its reader";
}

TEST(RunningKernelTest, ShowsNameAndTimeWhileItLives) {
  auto page = std::move(SharedPage<WorkerPage>::create("test").value());
  {
    const RunningKernel running(page.memory, 2, "sum");
    const auto seen = read_running(*page.memory);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].slot, 2u);
    EXPECT_EQ(seen[0].name, "sum");
    EXPECT_LE(seen[0].since_ns, monotonic_ns());
  }
  EXPECT_TRUE(read_running(*page.memory).empty());
  const RunningKernel nowhere(nullptr, 0, "x");
  const RunningKernel no_slot(page.memory, kRunningSlots, "x");
  EXPECT_TRUE(read_running(*page.memory).empty());
}

TEST(RunningKernelTest, LongNamesAreCut) {
  auto page = std::move(SharedPage<WorkerPage>::create("test").value());
  const RunningKernel running(page.memory, 0, std::string(1000, 'n'));
  EXPECT_EQ(read_running(*page.memory).at(0).name, std::string(kRunningNameBytes, 'n'));
}

TEST(RunningKernelTest, APageOfGarbageIsReadInBounds) {
  auto page = std::move(SharedPage<WorkerPage>::create("test").value());
  for (const int value : {0xff, 0x01, 0x80}) {
    std::memset(static_cast<void*>(page.memory), value, sizeof(WorkerPage));
    const auto seen = read_running(*page.memory);
    EXPECT_EQ(seen.size(), kRunningSlots);
    for (const auto& one : seen) {
      EXPECT_LE(one.name.size(), kRunningNameBytes);
      EXPECT_EQ(one.name, clean_text(one.name, kRunningNameBytes));
    }
    EXPECT_LE(read_last_words(*page.memory).size(), kLastWordsBytes);
  }
}

TEST(RunningKernelTest, NamesAreNotTornWhileTheyChange) {
  auto page = std::move(SharedPage<WorkerPage>::create("test").value());
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      const RunningKernel running(page.memory, 0, std::string(100, static_cast<char>('a' + i % 26)));
      std::this_thread::yield(); // a kernel takes longer than its note
    }
  });
  int looked = 0;
  int torn = 0;
  const std::uint64_t deadline_ns = monotonic_ns() + 2'000'000'000;
  while (looked < 20000 && monotonic_ns() < deadline_ns) {
    for (const auto& one : read_running(*page.memory)) {
      ++looked;
      torn += one.name.find_first_not_of(one.name.empty() ? 'a' : one.name[0]) != std::string::npos ? 1 : 0;
    }
  }
  stop = true;
  writer.join();
  EXPECT_GT(looked, 0);
  EXPECT_LE(torn, looked / 100); // after a few tries a torn name is shown rather than none
}

TEST(SpinPermitsTest, NeverMoreThanThereAre) {
  auto page = std::move(SharedPage<SpinPermits>::create("test").value());
  SpinPermits& permits = *page.memory;
  EXPECT_EQ(permits.take(1), -1) << "none yet";
  permits.count = 3;
  const int first = permits.take(1);
  EXPECT_GE(first, 0);
  EXPECT_GE(permits.take(2), 0);
  EXPECT_GE(permits.take(2), 0);
  EXPECT_EQ(permits.take(3), -1);
  permits.give_back(first, 2); // not its own: no effect
  EXPECT_EQ(permits.take(3), -1);
  permits.give_back(first, 1);
  EXPECT_EQ(permits.take(3), first);
  permits.free_all_of(2); // it died
  EXPECT_GE(permits.take(4), 0);
  EXPECT_GE(permits.take(4), 0);
  EXPECT_EQ(permits.take(4), -1);
  permits.give_back(-1, 1);
  permits.give_back(100000, 1);
}

TEST(SpinPermitsTest, ACountBeyondTheTableIsBounded) {
  auto page = std::move(SharedPage<SpinPermits>::create("test").value());
  page.memory->count = 0xffff'ffff;
  for (std::size_t i = 0; i < kMaxSpinPermits; ++i) {
    EXPECT_GE(page.memory->take(1), 0);
  }
  EXPECT_EQ(page.memory->take(1), -1);
}

class ControlTest : public ::testing::Test {
protected:
  void SetUp() override {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
  }
  UniqueFd ours_;
  UniqueFd theirs_;
};

TEST_F(ControlTest, MessagesAndDescriptorsArriveTogether) {
  AttachConnection message;
  message.session_number = 12;
  message.received = 99;
  const int fds[] = {STDIN_FILENO, STDERR_FILENO};
  ASSERT_TRUE(send_to_worker(ours_.get(), message, fds));
  ASSERT_TRUE(send_to_worker(ours_.get(), EndSession{"that is all"}));
  auto first = receive_control_packet(theirs_.get());
  ASSERT_TRUE(first);
  ASSERT_EQ(first->fds.size(), 2u);
  EXPECT_EQ(::fcntl(first->fds[0].get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  const auto decoded = decode_control<ToWorker>(first->bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<AttachConnection>(*decoded).session_number, 12u);
  EXPECT_EQ(std::get<AttachConnection>(*decoded).received, 99u);
  auto second = receive_control_packet(theirs_.get());
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->fds.empty());
  EXPECT_EQ(std::get<EndSession>(decode_control<ToWorker>(second->bytes).value()).sentence, "that is all");
  EXPECT_EQ(receive_control_packet(theirs_.get()).error().code, ErrorCode::kTimeout);
}

TEST_F(ControlTest, AFullQueueIsALimitAndNotAWait) {
  Status status;
  for (int i = 0; i < 100000 && status; ++i) {
    status = send_to_worker(ours_.get(), EndSession{std::string(1000, 'x')});
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kLimit);
}

TEST_F(ControlTest, TheEndOfTheOtherSide) {
  theirs_.reset();
  const auto packet = receive_control_packet(ours_.get());
  ASSERT_TRUE(packet);
  EXPECT_TRUE(packet->bytes.empty());
  EXPECT_EQ(send_to_worker(ours_.get(), EndSession{}).error().code, ErrorCode::kClosed);
}

TEST_F(ControlTest, NonsenseIsRefused) {
  ByteVector bytes = encode(ToSupervisor(SessionEnded{"reason", false}));
  EXPECT_TRUE(decode_control<ToSupervisor>(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_control<ToSupervisor>(ConstBytes(bytes).first(size))) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_control<ToSupervisor>(bytes));
  bytes[0] = std::byte{200};
  EXPECT_FALSE(decode_control<ToSupervisor>(bytes));
}
} // namespace
} // namespace farcl::daemon
