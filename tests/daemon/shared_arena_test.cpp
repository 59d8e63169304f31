// Memory that a session shares with its client: blocks of the arena, and what the client hears of them.
#include "daemon/device/host_memory.hpp"
#include "session_fixture.hpp"

#include <algorithm>
#include <random>

namespace farcl::daemon::test {
namespace {

constexpr std::uint64_t kArenaBytes = 8u << 20;

std::shared_ptr<SharedArena> new_arena() { return std::move(*SharedArena::create(kArenaBytes)); }

bool is_zero(const Memory& memory) {
  return std::all_of(memory.host_pointer(), memory.host_pointer() + memory.size_bytes(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

TEST(SharedArena, BlocksDoNotOverlapAndWhatIsFreedIsZeroAndWhole) {
  const auto arena = new_arena();
  std::mt19937 random(3);
  std::vector<MemoryPtr> blocks;
  for (int step = 0; step < 800; ++step) {
    if (random() % 2 == 0 && !blocks.empty()) {
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(random() % blocks.size()));
      continue;
    }
    MemoryPtr block = arena->allocate((64u << 10) + random() % 700'000);
    if (block == nullptr) {
      continue; // full for now
    }
    ASSERT_TRUE(is_zero(*block));
    const std::uint64_t offset = arena->offset_of(*block).value();
    ASSERT_EQ(offset % 4096, 0u);
    ASSERT_LE(offset + block->size_bytes(), kArenaBytes);
    for (const MemoryPtr& other : blocks) {
      const std::uint64_t there = arena->offset_of(*other).value();
      ASSERT_TRUE(offset + block->size_bytes() <= there || there + other->size_bytes() <= offset);
    }
    std::memset(block->host_pointer(), 0xee, block->size_bytes());
    blocks.push_back(std::move(block));
  }
  blocks.clear();
  const MemoryPtr all = arena->allocate(kArenaBytes);
  ASSERT_NE(all, nullptr) << "free neighbours have not become one";
  EXPECT_TRUE(is_zero(*all));
  EXPECT_EQ(arena->allocate(64u << 10), nullptr);
}

TEST(SharedArena, SmallBlocksAndOthersMemoryAreNotIts) {
  const auto arena = new_arena();
  EXPECT_EQ(arena->allocate(protocol::kSharedBufferBytes - 1), nullptr);
  EXPECT_EQ(arena->allocate(kArenaBytes + 1), nullptr);
  EXPECT_FALSE(arena->offset_of(**HostMemory::allocate(1u << 20)).has_value());
}

class SharedArenaSession : public SessionFixture {
protected:
  void SetUp() override {
    client->shared = arena;
    ASSERT_TRUE(client->connect());
    client->send(p::CreateContext{kContext, {0}});
    client->send(p::CreateQueue{kQueue, kContext, 0, false, false});
  }
  std::byte* memory_of(const p::BufferPlaced& placed) {
    auto view = SharedRegion::open(UniqueFd(::dup(arena->fd())), 1, ~std::uint64_t{0});
    views.push_back(std::move(*view));
    return views.back().data() + placed.offset;
  }
  std::shared_ptr<SharedArena> arena = new_arena();
  std::vector<SharedRegion> views;
};

TEST_F(SharedArenaSession, AClientFindsItsBufferWhereItIsTold) {
  client->send(p::CreateBuffer{kBuffer, kContext, 0, kBufferBytes, {}, {}});
  ASSERT_TRUE(client->until([&] { return !client->placed.empty(); }));
  EXPECT_EQ(client->placed[0].buffer, kBuffer);
  EXPECT_EQ(client->placed[0].size_bytes, kBufferBytes);
  std::byte* const mine = memory_of(client->placed[0]);
  const ByteVector bytes = pattern(1000);
  std::copy(bytes.begin(), bytes.end(), mine + 500);
  EXPECT_EQ(client->read(kQueue, kBuffer, 500, 1000), bytes);
}

TEST_F(SharedArenaSession, TheInitialContentsComeFirst) {
  p::CreateBuffer create{kBuffer, kContext, 0, kBufferBytes, {77}, {}};
  client->send(create);
  ASSERT_EQ(client->finish(kQueue), 0);
  EXPECT_TRUE(client->placed.empty());
  const ByteVector bytes = pattern(kBufferBytes);
  client->send_bulk({77}, 0, bytes);
  ASSERT_TRUE(client->until([&] { return !client->placed.empty(); }));
  const std::byte* const mine = memory_of(client->placed[0]);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), mine));
}

TEST_F(SharedArenaSession, SmallOnesAndThoseBeyondTheArenaWorkWithoutAPlace) {
  client->send(p::CreateBuffer{kBuffer, kContext, 0, 1000, {}, {}});
  client->send(p::CreateBuffer{{50}, kContext, 0, 2 * kArenaBytes, {}, {}});
  EXPECT_TRUE(client->read(kQueue, kBuffer, 0, 1000).has_value());
  EXPECT_TRUE(client->read(kQueue, {50}, 0, 1000).has_value());
  EXPECT_TRUE(client->placed.empty());
  EXPECT_TRUE(client->object_failures.empty());
}

TEST_F(SharedArenaSession, AReleasedBufferKeepsItsMemoryUntilItsLastCommand) {
  client->send(p::CreateBuffer{kBuffer, kContext, 0, kArenaBytes, {}, {}});
  ASSERT_TRUE(client->until([&] { return !client->placed.empty(); }));
  device.set_deferred(true);
  p::EnqueueFill fill;
  fill.command.queue = kQueue;
  fill.buffer = kBuffer;
  fill.size_bytes = kArenaBytes;
  const ByteVector one{std::byte{1}};
  fill.pattern = one;
  client->send(fill);
  ASSERT_TRUE(device_waits_for(1));
  client->send(p::ReleaseObject{p::ObjectKind::kBuffer, kBuffer.value});
  client->send(p::CreateBuffer{{50}, kContext, 0, kBufferBytes, {}, {}}); // no room: elsewhere
  device.set_deferred(false);
  ASSERT_TRUE(device.complete_waiting());
  ASSERT_EQ(client->finish(kQueue), 0);
  EXPECT_EQ(client->placed.size(), 1u);
  client->send(p::CreateBuffer{{51}, kContext, 0, kArenaBytes, {}, {}});
  ASSERT_TRUE(client->until([&] { return client->placed.size() == 2; }));
  EXPECT_EQ(*memory_of(client->placed[1]), std::byte{0});
}

} // namespace
} // namespace farcl::daemon::test
