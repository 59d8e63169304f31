#include "driver/session/callback_thread.hpp"
#include "fixture.hpp"

#include <thread>

namespace farcl::test {
namespace {

cl_int status_of(cl_event event) {
  cl_int status = 99;
  EXPECT_EQ(api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr), CL_SUCCESS);
  return status;
}

TEST(Events, StatusQueriesAloneSeeTheCompletion) {
  start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  cl_event event = nullptr;
  client.bump(buffer, 1, {}, &event);
  EXPECT_TRUE(eventually([&] { return status_of(event) == CL_COMPLETE; }));
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
}

struct Seen {
  Guarded<std::vector<cl_int>> list;
  static void CL_CALLBACK on_status(cl_event, cl_int status, void* self) { static_cast<Seen*>(self)->list.lock()->push_back(status); }
  std::vector<cl_int> get() {
    driver::wait_for_callbacks();
    return *list.lock();
  }
};

TEST(Events, CallbacksComeInTheOrderOfStatuses) {
  start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  Seen seen;
  cl_event gate = api.clCreateUserEvent(client.context, nullptr);
  cl_event event = nullptr;
  client.bump(buffer, 1, {gate}, &event);
  EXPECT_EQ(api.clSetEventCallback(event, CL_COMPLETE, Seen::on_status, &seen), CL_SUCCESS);
  EXPECT_EQ(api.clSetEventCallback(event, CL_RUNNING, Seen::on_status, &seen), CL_SUCCESS);
  EXPECT_EQ(api.clSetEventCallback(event, CL_SUBMITTED, Seen::on_status, &seen), CL_SUCCESS);
  EXPECT_EQ(seen.get(), std::vector<cl_int>{CL_SUBMITTED});
  EXPECT_EQ(api.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  // No call of the program follows: the io thread must see the completion.
  EXPECT_TRUE(eventually([&] { return seen.get().size() == 3; }));
  EXPECT_EQ(seen.get(), (std::vector<cl_int>{CL_SUBMITTED, CL_RUNNING, CL_COMPLETE}));
  EXPECT_EQ(api.clSetEventCallback(event, CL_COMPLETE, Seen::on_status, &seen), CL_SUCCESS); // late: at once
  EXPECT_EQ(seen.get().size(), 4u);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseEvent(gate), CL_SUCCESS);
}

TEST(Events, AFailedUserEventFailsWhatWaitsForIt) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  Seen seen;
  cl_event gate = api.clCreateUserEvent(client.context, nullptr);
  cl_event event = nullptr;
  client.bump(buffer, 1, {gate}, &event);
  EXPECT_EQ(api.clSetEventCallback(event, CL_COMPLETE, Seen::on_status, &seen), CL_SUCCESS);
  EXPECT_EQ(api.clSetUserEventStatus(gate, -77), CL_SUCCESS);
  EXPECT_EQ(api.clSetUserEventStatus(gate, CL_COMPLETE), CL_INVALID_OPERATION);
  EXPECT_EQ(api.clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(status_of(event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(status_of(gate), -77);
  EXPECT_EQ(seen.get(), std::vector<cl_int>{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST});
  // A failed event passes on to commands that come later.
  cl_event later = nullptr;
  client.bump(buffer, 1, {event}, &later);
  EXPECT_EQ(api.clWaitForEvents(1, &later), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  std::uint32_t word = 0;
  EXPECT_EQ(api.clEnqueueReadBuffer(client.queue, buffer, CL_TRUE, 0, 4, &word, 1, &later, nullptr),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(server.kernels_run, 0u);
  for (cl_event one : {gate, event, later}) {
    EXPECT_EQ(api.clReleaseEvent(one), CL_SUCCESS);
  }
}

TEST(Events, AWaitEndsWhenAnotherThreadSetsTheUserEvent) {
  start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  cl_event gate = api.clCreateUserEvent(client.context, nullptr);
  cl_event event = nullptr;
  client.bump(buffer, 3, {gate}, &event);
  std::vector<std::thread> waiting;
  for (int i = 0; i < 3; ++i) { // one of them reads, the others sleep
    waiting.emplace_back([&] {
      cl_event both[] = {event, gate};
      EXPECT_EQ(api.clWaitForEvents(2, both), CL_SUCCESS);
    });
  }
  waiting.emplace_back([&] { EXPECT_EQ(api.clWaitForEvents(1, &gate), CL_SUCCESS); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(api.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  for (auto& one : waiting) {
    one.join();
  }
  EXPECT_EQ(client.read(buffer, 1).front(), 3u);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseEvent(gate), CL_SUCCESS);
}

TEST(Events, OutOfOrderQueuesFollowTheirWaitLists) {
  start_server();
  Client client(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_mem buffer = client.buffer(4);
  std::vector<cl_event> events(1);
  client.bump(buffer, 1, {}, &events[0]);
  for (int i = 0; i < 300; ++i) {
    events.push_back(nullptr);
    client.bump(buffer, 1, {events[events.size() - 2]}, &events.back());
  }
  EXPECT_EQ(api.clWaitForEvents(1, &events.back()), CL_SUCCESS);
  EXPECT_EQ(client.read(buffer, 1).front(), 301u);
  for (cl_event one : events) {
    EXPECT_EQ(api.clReleaseEvent(one), CL_SUCCESS);
  }
}

TEST(Events, AMarkerBehindACompleteEventDoesNotWaitForEverything) {
  start_server();
  Client client(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_mem buffer = client.buffer(4);
  cl_event gate = api.clCreateUserEvent(client.context, nullptr);
  cl_event held = nullptr;
  cl_event done = nullptr;
  cl_event marker = nullptr;
  client.bump(buffer, 1, {}, &done);
  EXPECT_EQ(api.clWaitForEvents(1, &done), CL_SUCCESS);
  client.bump(buffer, 1, {gate}, &held);
  EXPECT_EQ(api.clEnqueueMarkerWithWaitList(client.queue, 1, &done, &marker), CL_SUCCESS);
  EXPECT_EQ(api.clWaitForEvents(1, &marker), CL_SUCCESS);
  EXPECT_EQ(api.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  for (cl_event one : {gate, held, done, marker}) {
    EXPECT_EQ(api.clReleaseEvent(one), CL_SUCCESS);
  }
}

TEST(Events, ProfilingTimesAreInOrder) {
  start_server();
  Client client(CL_QUEUE_PROFILING_ENABLE);
  cl_mem buffer = client.buffer(4);
  cl_event event = nullptr;
  client.bump(buffer, 1, {}, &event);
  EXPECT_EQ(api.clWaitForEvents(1, &event), CL_SUCCESS);
  std::vector<cl_ulong> times;
  for (cl_profiling_info one :
       {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END}) {
    times.push_back(0);
    EXPECT_EQ(api.clGetEventProfilingInfo(event, one, sizeof(cl_ulong), &times.back(), nullptr), CL_SUCCESS);
  }
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_GT(times.back(), 0u);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
}

TEST(Events, ReleasingAnEventBeforeItCompletesIsFine) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  Seen seen;
  cl_event gate = api.clCreateUserEvent(client.context, nullptr);
  cl_event event = nullptr;
  client.bump(buffer, 1, {gate}, &event);
  EXPECT_EQ(api.clSetEventCallback(event, CL_COMPLETE, Seen::on_status, &seen), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(api.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseEvent(gate), CL_SUCCESS);
  EXPECT_TRUE(eventually([&] { return seen.get().size() == 1; }));
  EXPECT_TRUE(eventually([&] { return server.events_known == 0; }));
}

} // namespace
} // namespace farcl::test
