// Order: queues in and out of order, wait lists, user events, callbacks, profiling, markers and barriers, threads.
#include "support/cl_fixture.hpp"

#include <atomic>
#include <random>
#include <thread>

namespace farcl::end_to_end {
namespace {

constexpr const char* kSteps = R"(
  __kernel void advance(__global uint *x, uint k) { x[0] = x[0] * 3 + k; }
  __kernel void add_up(__global uint *x, uint count) { for (uint i = 1; i < count; ++i) x[0] += x[i]; }
  __kernel void set(__global uint *x, uint at, uint value) { x[at] = value; }
)";

class Events : public ClTest {
protected:
  void SetUp() override {
    ClTest::SetUp();
    program_ = build(kSteps);
  }
  cl::Kernel step(const cl::Buffer& buffer, cl_uint k) {
    cl::Kernel kernel(program_, "advance");
    kernel.setArg(0, buffer);
    kernel.setArg(1, k);
    return kernel;
  }
  cl::Event launch(cl::CommandQueue& on, const cl::Kernel& kernel, const std::vector<cl::Event>& wait = {}) {
    cl::Event event;
    on.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NullRange, &wait, &event);
    return event;
  }
  cl::Program program_;
};

TEST_F(Events, AnInOrderQueueKeepsItsOrder) {
  const cl::Buffer buffer = upload(std::vector<cl_uint>{1});
  cl::Kernel kernel = step(buffer, 0);
  cl_uint expected = 1;
  for (cl_uint k = 0; k < 2000; ++k) {
    kernel.setArg(1, k); // the argument counts as it was at the launch
    launch(queue, kernel);
    expected = expected * 3 + k;
  }
  EXPECT_EQ(download<cl_uint>(buffer, 1)[0], expected);
}

TEST_F(Events, ChainsOnAnOutOfOrderQueueFollowTheirWaitLists) {
  const cl::Buffer buffer = upload(std::vector<cl_uint>{1});
  std::vector<cl::Event> last;
  cl_uint expected = 1;
  for (cl_uint k = 0; k < 500; ++k) {
    last = {launch(out_of_order, step(buffer, k), last)};
    expected = expected * 3 + k;
  }
  cl_uint got = 0;
  out_of_order.enqueueReadBuffer(buffer, CL_TRUE, 0, 4, &got, &last);
  EXPECT_EQ(got, expected);
}

TEST_F(Events, ADiamondWaitsForAllItsSides) {
  constexpr cl_uint kSides = 64;
  const cl::Buffer buffer = upload(std::vector<cl_uint>(kSides + 1, 0));
  std::vector<cl::Event> sides;
  for (cl_uint i = 1; i <= kSides; ++i) {
    cl::Kernel kernel(program_, "set");
    kernel.setArg(0, buffer);
    kernel.setArg(1, i);
    kernel.setArg(2, i * i);
    sides.push_back(launch(out_of_order, kernel));
  }
  cl::Kernel sum(program_, "add_up");
  sum.setArg(0, buffer);
  sum.setArg(1, kSides + 1);
  const std::vector<cl::Event> done{launch(out_of_order, sum, sides)};
  cl_uint got = 0;
  out_of_order.enqueueReadBuffer(buffer, CL_TRUE, 0, 4, &got, &done);
  EXPECT_EQ(got, kSides * (kSides + 1) * (2 * kSides + 1) / 6);
}

TEST_F(Events, TwoQueuesAreOrderedByEvents) {
  cl::CommandQueue other(context, device);
  const cl::Buffer buffer = upload(std::vector<cl_uint>{1});
  std::vector<cl::Event> last;
  cl_uint expected = 1;
  for (cl_uint k = 0; k < 200; ++k) {
    cl::CommandQueue& on = k % 2 == 0 ? queue : other;
    last = {launch(on, step(buffer, k), last)};
    on.flush();
    expected = expected * 3 + k;
  }
  last.front().wait();
  EXPECT_EQ(download<cl_uint>(buffer, 1)[0], expected);
}

TEST_F(Events, AUserEventHoldsCommandsUntilItIsSet) {
  const cl::Buffer buffer = upload(std::vector<cl_uint>{1});
  cl::UserEvent gate(context);
  const cl::Event event = launch(queue, step(buffer, 5), {gate});
  queue.flush();
  sleep_ms(50);
  EXPECT_NE(event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(), CL_COMPLETE);
  gate.setStatus(CL_COMPLETE);
  event.wait();
  EXPECT_EQ(event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(), CL_COMPLETE);
  EXPECT_EQ(download<cl_uint>(buffer, 1)[0], 8U);
}

TEST_F(Events, AFailedUserEventFailsWhatWaitsForIt) {
  const cl::Buffer buffer = upload(std::vector<cl_uint>{1});
  cl::UserEvent gate(context);
  const cl::Event first = launch(out_of_order, step(buffer, 5), {gate});
  const cl::Event second = launch(out_of_order, step(buffer, 6), {first});
  out_of_order.flush();
  gate.setStatus(-1);
  EXPECT_EQ(clWaitForEvents(1, &second()), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_LT(second.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(), 0);
  EXPECT_EQ(download<cl_uint>(buffer, 1)[0], 1U);
}

TEST_F(Events, CallbacksComeOnceForEachStatus) {
  struct Seen {
    std::atomic<int> submitted{0}, running{0}, complete{0};
  } seen;
  const cl::Buffer buffer = upload(std::vector<cl_uint>{1});
  cl::UserEvent gate(context);
  cl::Event event = launch(queue, step(buffer, 5), {gate});
  event.setCallback(CL_SUBMITTED, [](cl_event, cl_int, void* data) { ++static_cast<Seen*>(data)->submitted; }, &seen);
  event.setCallback(CL_RUNNING, [](cl_event, cl_int, void* data) { ++static_cast<Seen*>(data)->running; }, &seen);
  event.setCallback(
      CL_COMPLETE,
      [](cl_event, cl_int status, void* data) {
        EXPECT_EQ(status, CL_COMPLETE);
        ++static_cast<Seen*>(data)->complete;
      },
      &seen);
  gate.setStatus(CL_COMPLETE);
  queue.finish();
  EXPECT_TRUE(eventually([&] { return seen.complete == 1 && seen.running == 1 && seen.submitted == 1; }, std::chrono::seconds(2)));
  event.setCallback(CL_COMPLETE, [](cl_event, cl_int, void* data) { ++static_cast<Seen*>(data)->complete; }, &seen);
  EXPECT_TRUE(eventually([&] { return seen.complete == 2; }, std::chrono::seconds(2)));
}

TEST_F(Events, ProfilingTimesAreInOrder) {
  const cl::Buffer buffer = upload(std::vector<cl_uint>{1});
  cl_ulong last_end = 0;
  for (cl_uint k = 0; k < 100; ++k) {
    const cl::Event event = launch(queue, step(buffer, k));
    event.wait();
    const cl_ulong queued = event.getProfilingInfo<CL_PROFILING_COMMAND_QUEUED>();
    const cl_ulong submit = event.getProfilingInfo<CL_PROFILING_COMMAND_SUBMIT>();
    const cl_ulong start = event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
    const cl_ulong end = event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
    ASSERT_LE(queued, submit);
    ASSERT_LE(submit, start);
    ASSERT_LE(start, end);
    ASSERT_GE(start, last_end);
    ASSERT_LT(end - queued, 5'000'000'000U);
    last_end = end;
  }
}

TEST_F(Events, MarkersAndBarriersOnAnOutOfOrderQueue) {
  const cl::Buffer buffer = upload(std::vector<cl_uint>{1});
  cl_uint expected = 1;
  for (cl_uint k = 0; k < 50; ++k) {
    launch(out_of_order, step(buffer, k));
    out_of_order.enqueueBarrierWithWaitList();
    expected = expected * 3 + k;
  }
  cl::Event marker;
  out_of_order.enqueueMarkerWithWaitList(nullptr, &marker);
  marker.wait();
  EXPECT_EQ(download<cl_uint>(buffer, 1)[0], expected);
}

TEST_F(Events, TwoThreadsOnOneQueue) {
  constexpr int kThreads = 2;
  constexpr cl_uint kEach = 500;
  std::vector<cl::Buffer> buffers;
  for (int i = 0; i < kThreads; ++i) {
    buffers.push_back(upload(std::vector<cl_uint>{1}));
  }
  std::vector<std::thread> threads;
  std::vector<cl_uint> got(kThreads);
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (cl_uint k = 0; k < kEach; ++k) {
        launch(queue, step(buffers[t], k));
        if (k % 50 == 0) {
          queue.enqueueReadBuffer(buffers[t], CL_TRUE, 0, 4, &got[t]);
        }
      }
      queue.enqueueReadBuffer(buffers[t], CL_TRUE, 0, 4, &got[t]);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  cl_uint expected = 1;
  for (cl_uint k = 0; k < kEach; ++k) {
    expected = expected * 3 + k;
  }
  EXPECT_EQ(got, std::vector<cl_uint>(kThreads, expected));
}

TEST_F(Events, ManyThreadsWithQueuesOfTheirOwn) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (cl_uint t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      cl::CommandQueue mine(context, device);
      const cl::Buffer buffer(context, CL_MEM_READ_WRITE, 4);
      cl_uint value = t;
      mine.enqueueWriteBuffer(buffer, CL_TRUE, 0, 4, &value);
      for (cl_uint k = 0; k < 200; ++k) {
        launch(mine, step(buffer, k));
        value = value * 3 + k;
      }
      cl_uint got = 0;
      mine.enqueueReadBuffer(buffer, CL_TRUE, 0, 4, &got);
      right += got == value ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, 8);
}

TEST_F(Events, RandomGraphsGiveTheResultsOfTheirOrder) {
  // Each command reads one cell and writes another; whatever may run side by side does, but dependent ones by events.
  std::mt19937 random(4);
  constexpr cl_uint kCells = 16;
  std::vector<cl_uint> expected(kCells, 1);
  std::vector<cl::Buffer> cells;
  for (cl_uint i = 0; i < kCells; ++i) {
    cells.push_back(upload(std::vector<cl_uint>{1}));
  }
  std::vector<std::vector<cl::Event>> last(kCells);
  for (cl_uint k = 0; k < 1000; ++k) {
    const cl_uint cell = random() % kCells;
    std::vector<cl::Event> wait = last[cell];
    const std::vector<cl::Event>& other = last[random() % kCells]; // a dependency that is not needed does no harm
    wait.insert(wait.end(), other.begin(), other.end());
    last[cell] = {launch(out_of_order, step(cells[cell], k), wait)};
    expected[cell] = expected[cell] * 3 + k;
  }
  out_of_order.finish();
  for (cl_uint i = 0; i < kCells; ++i) {
    ASSERT_EQ(download<cl_uint>(cells[i], 1)[0], expected[i]) << i;
  }
}

} // namespace
} // namespace farcl::end_to_end
