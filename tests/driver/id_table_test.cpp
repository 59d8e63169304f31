#include "driver/session/id_table.hpp"

#include <gtest/gtest.h>
#include <random>
#include <unordered_map>

namespace farcl::driver {
namespace {

using Id = StrongId<struct TestTag>;

TEST(IdTable, FindsWhatWasInsertedAndNothingElse) {
  IdTable<Id, int> table;
  EXPECT_EQ(table.find({1}), nullptr);
  EXPECT_EQ(table.take({1}), 0);
  table.insert({1}, 10);
  table.insert({33}, 20); // the same home
  ASSERT_NE(table.find({33}), nullptr);
  EXPECT_EQ(*table.find({33}), 20);
  EXPECT_EQ(table.find({65}), nullptr);
  EXPECT_EQ(table.find({0}), nullptr);
  EXPECT_EQ(table.take({1}), 10);
  EXPECT_EQ(table.find({1}), nullptr);
  EXPECT_EQ(*table.find({33}), 20); // not lost behind the gap
  EXPECT_EQ(table.take_all(), std::vector<int>{20});
  EXPECT_TRUE(table.empty());
}

TEST(IdTable, AgreesWithAMapUnderRandomUse) {
  std::mt19937 random(7);
  IdTable<Id, std::uint64_t> table;
  std::unordered_map<std::uint64_t, std::uint64_t> map;
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t id = 1 + random() % 300 * (random() % 2 == 0 ? 1 : 32);
    if (map.count(id) == 0 && random() % 2 == 0) {
      table.insert({id}, id * 3);
      map[id] = id * 3;
    } else if (random() % 2 == 0) {
      const bool there = map.erase(id) != 0;
      EXPECT_EQ(table.take({id}), there ? id * 3 : 0);
    } else {
      ASSERT_EQ(table.find({id}) != nullptr, map.count(id) != 0) << id;
    }
    ASSERT_EQ(table.size(), map.size());
  }
}

} // namespace
} // namespace farcl::driver
