// The scheduler alone: orders, failures, markers and barriers, large graphs. A runner logs what starts and what completes.
#include "daemon/scheduler/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace farcl::daemon::test {
namespace {

using protocol::EventId;

class SchedulerTest : public ::testing::Test, public Runner {
protected:
  void start(Command& command) override {
    started.push_back(command.event.value);
    running[command.event.value] = &command;
    if (immediate) {
      scheduler->complete(command, CL_COMPLETE);
    }
  }
  void completed(Command& command, cl_int status) override {
    completions.emplace_back(command.event.value, status);
    running.erase(command.event.value);
  }
  std::shared_ptr<Queue> make_queue(bool out_of_order) {
    auto queue = std::make_shared<Queue>();
    queue->out_of_order = out_of_order;
    return queue;
  }
  /// Enters a command whose event is `id`.
  void enter(const std::shared_ptr<Queue>& queue, std::uint64_t id, std::vector<EventId> wait_list = {},
             Ordering ordering = Ordering::kPlain, bool barrier = false) {
    Command& command = scheduler->new_command();
    command.queue = queue;
    command.event = {id};
    ASSERT_TRUE(scheduler->enter(command, wait_list, ordering, barrier));
    scheduler->start_ready();
  }
  void user_event(std::uint64_t id) {
    Command& command = scheduler->new_command();
    command.event = {id};
    command.work.emplace<UserEventWork>();
    scheduler->hold(command);
    ASSERT_TRUE(scheduler->enter(command));
  }
  void complete(std::uint64_t id, cl_int status = CL_COMPLETE) {
    ASSERT_TRUE(running.count(id) != 0) << id;
    scheduler->complete(*running[id], status);
    scheduler->start_ready();
  }
  [[nodiscard]] cl_int status_of(std::uint64_t id) const {
    for (const auto& [event, status] : completions) {
      if (event == id) {
        return status;
      }
    }
    return 1000; // not complete
  }

  void reset(SchedulerLimits limits = {}) { scheduler = std::make_unique<Scheduler>(*this, limits); }
  std::unique_ptr<Scheduler> scheduler = std::make_unique<Scheduler>(*this, SchedulerLimits{});
  bool immediate = false;
  std::vector<std::uint64_t> started;
  std::vector<std::pair<std::uint64_t, cl_int>> completions;
  std::map<std::uint64_t, Command*> running;
};

using Ids = std::vector<std::uint64_t>;

TEST_F(SchedulerTest, AnInOrderQueueRunsOneAfterTheOther) {
  auto queue = make_queue(false);
  enter(queue, 1);
  enter(queue, 2);
  enter(queue, 3);
  EXPECT_EQ(started, (Ids{1}));
  complete(1);
  EXPECT_EQ(started, (Ids{1, 2}));
  complete(2);
  complete(3);
  EXPECT_EQ(scheduler->commands_in_flight(), 0u);
  EXPECT_EQ(queue->first, nullptr);
  EXPECT_EQ(queue->last, nullptr);
}

TEST_F(SchedulerTest, AnOutOfOrderQueueDoesNot) {
  auto queue = make_queue(true);
  enter(queue, 1);
  enter(queue, 2);
  enter(queue, 3, {{1}});
  EXPECT_EQ(started, (Ids{1, 2}));
  complete(2);
  complete(1);
  EXPECT_EQ(started, (Ids{1, 2, 3}));
}

TEST_F(SchedulerTest, QueuesAreIndependent) {
  auto one = make_queue(false);
  auto other = make_queue(false);
  enter(one, 1);
  enter(other, 2);
  EXPECT_EQ(started, (Ids{1, 2}));
}

TEST_F(SchedulerTest, ADiamond) {
  auto queue = make_queue(true);
  enter(queue, 1);
  enter(queue, 2, {{1}});
  enter(queue, 3, {{1}});
  enter(queue, 4, {{2}, {3}});
  complete(1);
  EXPECT_EQ(started, (Ids{1, 2, 3}));
  complete(3);
  EXPECT_EQ(started.back(), 3u);
  complete(2);
  EXPECT_EQ(started.back(), 4u);
}

TEST_F(SchedulerTest, FailuresTravelAlongWaitLists) {
  auto queue = make_queue(true);
  enter(queue, 1);
  enter(queue, 2, {{1}});
  enter(queue, 3, {{2}});
  enter(queue, 4);
  complete(1, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(status_of(2), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(status_of(3), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  enter(queue, 5, {{1}}); // failed already
  EXPECT_EQ(status_of(5), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(started, (Ids{1, 4}));
}

TEST_F(SchedulerTest, OrderAloneCarriesNoFailure) {
  auto queue = make_queue(false);
  enter(queue, 1);
  enter(queue, 2);
  complete(1, -5);
  EXPECT_EQ(started, (Ids{1, 2}));
  complete(2);
  EXPECT_EQ(status_of(2), CL_COMPLETE);
}

TEST_F(SchedulerTest, AFailedCommandOfAnInOrderQueueKeepsItsPlace) {
  auto queue = make_queue(false);
  user_event(9);
  enter(queue, 1);
  ASSERT_TRUE(scheduler->set_user_event({9}, -3));
  enter(queue, 2, {{9}});
  EXPECT_EQ(status_of(2), 1000) << "it may not complete before the one in front of it";
  complete(1);
  EXPECT_EQ(status_of(2), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

TEST_F(SchedulerTest, UserEvents) {
  auto queue = make_queue(true);
  user_event(1);
  user_event(2);
  enter(queue, 3, {{1}, {2}});
  EXPECT_TRUE(scheduler->set_user_event({1}, CL_COMPLETE));
  scheduler->start_ready();
  EXPECT_TRUE(started.empty());
  EXPECT_FALSE(scheduler->set_user_event({1}, CL_COMPLETE)) << "only once";
  EXPECT_FALSE(scheduler->set_user_event({3}, CL_COMPLETE)) << "not a user event";
  EXPECT_FALSE(scheduler->set_user_event({77}, CL_COMPLETE));
  EXPECT_TRUE(scheduler->set_user_event({2}, CL_COMPLETE));
  scheduler->start_ready();
  EXPECT_EQ(started, (Ids{3}));
}

TEST_F(SchedulerTest, AMarkerWaitsForEverythingBefore) {
  auto queue = make_queue(true);
  enter(queue, 1);
  enter(queue, 2);
  enter(queue, 3, {}, Ordering::kWaitsForAll);
  enter(queue, 4); // a marker holds nothing back
  EXPECT_EQ(started, (Ids{1, 2, 4}));
  complete(1);
  EXPECT_EQ(started.back(), 4u);
  complete(2);
  EXPECT_EQ(started.back(), 3u);
}

TEST_F(SchedulerTest, MarkersBehindMarkers) {
  auto queue = make_queue(true);
  enter(queue, 1);
  enter(queue, 2, {}, Ordering::kWaitsForAll);
  enter(queue, 3, {}, Ordering::kWaitsForAll);
  EXPECT_EQ(started, (Ids{1}));
  complete(1);
  EXPECT_EQ(started, (Ids{1, 2}));
  complete(2);
  EXPECT_EQ(started, (Ids{1, 2, 3}));
}

TEST_F(SchedulerTest, ABarrierHoldsBackWhatFollows) {
  auto queue = make_queue(true);
  enter(queue, 1);
  enter(queue, 2, {}, Ordering::kWaitsForAll, true);
  enter(queue, 3);
  enter(queue, 4);
  EXPECT_EQ(started, (Ids{1}));
  complete(1);
  EXPECT_EQ(started, (Ids{1, 2}));
  complete(2);
  EXPECT_EQ(started.size(), 4u);
}

TEST_F(SchedulerTest, ABarrierWithAWaitListWaitsForThatOnly) {
  auto queue = make_queue(true);
  enter(queue, 1);
  enter(queue, 2);
  enter(queue, 3, {{1}}, Ordering::kPlain, true);
  enter(queue, 4);
  complete(1);
  EXPECT_EQ(started, (Ids{1, 2, 3}));
  complete(3);
  EXPECT_EQ(started, (Ids{1, 2, 3, 4}));
}

TEST_F(SchedulerTest, TwoBarriersHoldTogether) {
  auto queue = make_queue(true);
  user_event(1);
  user_event(2);
  enter(queue, 3, {{1}}, Ordering::kPlain, true);
  enter(queue, 4, {{2}}, Ordering::kPlain, true);
  enter(queue, 5);
  immediate = true;
  (void)scheduler->set_user_event({2}, CL_COMPLETE);
  scheduler->start_ready();
  EXPECT_TRUE(started.empty());
  (void)scheduler->set_user_event({1}, CL_COMPLETE);
  scheduler->start_ready();
  EXPECT_EQ(started, (Ids{3, 4, 5}));
}

TEST_F(SchedulerTest, UnknownAndOwnEventsInAWaitListFail) {
  auto queue = make_queue(true);
  enter(queue, 1, {{99}});
  EXPECT_EQ(status_of(1), CL_INVALID_EVENT_WAIT_LIST);
  enter(queue, 2, {{2}});
  EXPECT_EQ(status_of(2), CL_INVALID_EVENT_WAIT_LIST);
}

TEST_F(SchedulerTest, AnEventIdInUseIsRefused) {
  auto queue = make_queue(true);
  enter(queue, 1);
  Command& command = scheduler->new_command();
  command.queue = queue;
  command.event = {1};
  EXPECT_FALSE(scheduler->enter(command));
  complete(1);
  EXPECT_TRUE(scheduler->release_event({1}));
  EXPECT_FALSE(scheduler->release_event({1}));
  enter(queue, 1);
  EXPECT_EQ(started, (Ids{1, 1}));
}

TEST_F(SchedulerTest, EventsOfRunningCommandsMayBeReleased) {
  auto queue = make_queue(true);
  enter(queue, 1);
  enter(queue, 2, {{1}});
  EXPECT_TRUE(scheduler->release_event({1}));
  complete(1);
  EXPECT_EQ(started, (Ids{1, 2}));
}

TEST_F(SchedulerTest, BeyondTheLimitCommandsFailAtOnceAndOutOfOrder) {
  reset({3, 100, 100});
  auto queue = make_queue(false);
  enter(queue, 1);
  enter(queue, 2);
  enter(queue, 3);
  enter(queue, 4);
  EXPECT_EQ(status_of(4), CL_OUT_OF_RESOURCES);
  complete(1);
  enter(queue, 5);
  complete(2);
  complete(3);
  complete(5);
  EXPECT_EQ(started, (Ids{1, 2, 3, 5}));
  EXPECT_EQ(queue->first, nullptr);
}

TEST_F(SchedulerTest, DependenciesAreBounded) {
  reset({1000, 1000, 10});
  auto queue = make_queue(true);
  user_event(1);
  for (std::uint64_t i = 2; i < 30; ++i) {
    enter(queue, i, {{1}});
  }
  EXPECT_EQ(completions.size(), 18u);
  (void)scheduler->set_user_event({1}, CL_COMPLETE);
  scheduler->start_ready();
  EXPECT_EQ(started.size(), 10u);
}

TEST_F(SchedulerTest, AHundredThousandCommandsInEachShape) {
  constexpr std::uint64_t kCount = 100'000;
  reset({kCount + 10, 2 * kCount, 10 * kCount});
  const auto start = std::chrono::steady_clock::now();
  immediate = true;
  user_event(1);
  auto in_order = make_queue(false);
  enter(in_order, 2, {{1}});
  for (std::uint64_t i = 3; i < kCount; ++i) {
    enter(in_order, i);
  }
  EXPECT_TRUE(started.empty());
  (void)scheduler->set_user_event({1}, CL_COMPLETE);
  scheduler->start_ready();
  EXPECT_EQ(started.size(), kCount - 2);
  EXPECT_TRUE(std::is_sorted(started.begin(), started.end()));
  for (std::uint64_t i = 1; i < kCount; ++i) {
    ASSERT_TRUE(scheduler->release_event({i}));
  }
  // A fan: all wait for one and one waits for all, marker after marker (a naive marker is quadratic here).
  started.clear();
  auto out_of_order = make_queue(true);
  user_event(1);
  for (std::uint64_t i = 2; i < kCount; ++i) {
    enter(out_of_order, i, {{1}}, i % 2 == 0 ? Ordering::kPlain : Ordering::kWaitsForAll);
  }
  (void)scheduler->set_user_event({1}, CL_COMPLETE);
  scheduler->start_ready();
  EXPECT_EQ(started.size(), kCount - 2);
  EXPECT_EQ(scheduler->commands_in_flight(), 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(SchedulerTest, RandomGraphsRunEachCommandOnceAndAfterItsDependencies) {
  std::mt19937 random(20261130);
  for (int round = 0; round < 50; ++round) {
    reset();
    started.clear();
    completions.clear();
    running.clear();
    std::vector<std::shared_ptr<Queue>> queues = {make_queue(false), make_queue(true), make_queue(true)};
    std::vector<std::vector<std::uint64_t>> waits(200);
    std::vector<std::size_t> queue_of(200);
    const auto complete_one = [&] {
      if (!running.empty()) {
        auto one = running.begin();
        std::advance(one, random() % running.size());
        complete(one->first);
      }
    };
    for (std::uint64_t id = 1; id < 200; ++id) {
      std::vector<EventId> list;
      for (std::uint64_t n = random() % 4; n > 0 && id > 1; --n) {
        waits[id].push_back(1 + random() % (id - 1));
        list.push_back({waits[id].back()});
      }
      queue_of[id] = random() % queues.size();
      enter(queues[queue_of[id]], id, list);
      if (random() % 3 == 0) {
        complete_one();
      }
    }
    while (!running.empty()) {
      complete_one();
    }
    ASSERT_EQ(completions.size(), 199u);
    std::map<std::uint64_t, std::size_t> completed_at;
    for (std::size_t i = 0; i < completions.size(); ++i) {
      ASSERT_TRUE(completed_at.emplace(completions[i].first, i).second);
    }
    std::uint64_t last_in_order = 0;
    for (std::uint64_t id = 1; id < 200; ++id) {
      for (const std::uint64_t earlier : waits[id]) {
        ASSERT_LT(completed_at[earlier], completed_at[id]);
      }
      if (queue_of[id] == 0) {
        ASSERT_TRUE(last_in_order == 0 || completed_at[last_in_order] < completed_at[id]);
        last_in_order = id;
      }
    }
  }
}

TEST(IdTableTest, InsertsFindsAndErases) {
  IdTable<EventId, int> table;
  EXPECT_EQ(table.find({1}), nullptr);
  EXPECT_EQ(table.insert({0}, 1), nullptr);
  std::mt19937_64 random(1);
  std::map<std::uint64_t, int> truth;
  for (int i = 0; i < 200'000; ++i) {
    // Few ids, some of them far apart, so that runs form and are cut.
    const std::uint64_t id = 1 + random() % 500 * (random() % 2 == 0 ? 1 : 0x100000001ull);
    if (random() % 2 == 0) {
      ASSERT_EQ(table.insert({id}, i) != nullptr, truth.emplace(id, i).second);
    } else {
      ASSERT_EQ(table.erase({id}), truth.erase(id) == 1);
    }
    const int* found = table.find({id});
    ASSERT_EQ(found != nullptr, truth.count(id) == 1);
    ASSERT_TRUE(found == nullptr || *found == truth[id]);
    ASSERT_EQ(table.size(), truth.size());
  }
}

} // namespace
} // namespace farcl::daemon::test
