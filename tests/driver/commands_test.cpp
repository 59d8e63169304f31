#include "driver/icd/guard.hpp"
#include "fixture.hpp"

#include <atomic>
#include <numeric>
#include <thread>

namespace farcl::test {
namespace {

TEST(Commands, KernelsInOrderAddUp) {
  FakeServer& server = start_server();
  Client client;
  std::vector<std::uint32_t> words(100);
  std::iota(words.begin(), words.end(), 5u);
  cl_mem buffer = client.buffer(400);
  client.write(buffer, words.data(), 400);
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    client.bump(buffer, i);
  }
  for (auto& word : words) {
    word += 500500;
  }
  EXPECT_EQ(client.read(buffer, 100), words);
  EXPECT_EQ(server.kernels_run, 1000u);
}

TEST(Commands, AnEnqueueNeitherWaitsNorIsForgotten) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  client.bump(buffer); // an idle session sends it at once
  EXPECT_TRUE(eventually([&] { return server.kernels_run == 1; }));
  for (int i = 0; i < 5; ++i) { // collected, and sent by the io thread although no call follows
    client.bump(buffer);
  }
  EXPECT_TRUE(eventually([&] { return server.kernels_run == 6; }));
}

TEST(Commands, CollectsSmallCommandsIntoFewSends) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  const std::uint64_t before = server.to_server->sends;
  for (int i = 0; i < 2000; ++i) {
    client.bump(buffer);
  }
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  EXPECT_LT(server.to_server->sends - before, 1000u);
}

TEST(Commands, ManyMoreThanTheServerAllowsAtOnce) {
  FakeServer& server = start_server({.limits = {.memory_bytes = 1u << 30, .commands_in_flight = 50}});
  Client client;
  cl_mem buffer = client.buffer(4);
  std::atomic<bool> stop{false};
  std::uint64_t most = 0;
  std::thread watch([&] {
    while (!stop) {
      most = std::max(most, server.commands_pending.load());
    }
  });
  for (int i = 0; i < 3000; ++i) {
    client.bump(buffer);
  }
  EXPECT_EQ(client.read(buffer, 1).front(), 3000u);
  stop = true;
  watch.join();
  EXPECT_LE(most, 60u); // the questions how far it is count too
}

TEST(Commands, AFullSessionBehindAnOpenUserEventIsAnErrorNotAHang) {
  start_server({.limits = {.memory_bytes = 1u << 30, .commands_in_flight = 20}});
  Client client;
  cl_mem buffer = client.buffer(4);
  cl_event gate = api.clCreateUserEvent(client.context, nullptr);
  client.bump(buffer, 1, {gate});
  const std::size_t size = 1;
  cl_int code = CL_SUCCESS;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 30 && code == CL_SUCCESS; ++i) {
    code = api.clEnqueueNDRangeKernel(client.queue, client.kernel, 1, nullptr, &size, nullptr, 0, nullptr, nullptr);
  }
  EXPECT_EQ(code, CL_OUT_OF_RESOURCES);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  EXPECT_EQ(api.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseEvent(gate), CL_SUCCESS);
}

TEST(Commands, LittleRetainedMemoryOnlySlowsDown) {
  start_server({.limits = {.memory_bytes = 1u << 30, .retained_bytes = 600u << 10}});
  Client client;
  std::vector<std::uint32_t> words(4u << 20, 7);
  cl_mem buffer = client.buffer(words.size() * 4);
  cl_event event = client.write(buffer, words.data(), words.size() * 4, false);
  client.bump(buffer);
  EXPECT_EQ(client.read(buffer, words.size()), std::vector<std::uint32_t>(words.size(), 8));
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
}

TEST(Commands, AHiddenFailureComesOutAtTheNextFinishOnce) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  client.bump(buffer);
  server.hidden = CL_OUT_OF_RESOURCES;
  EXPECT_EQ(api.clFinish(client.queue), CL_OUT_OF_RESOURCES);
  client.bump(buffer);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
}

TEST(Commands, AFailedReadThatNobodyWatchesComesOutAtTheNextFinish) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  std::uint32_t word = 0;
  server.fail_reads = CL_OUT_OF_RESOURCES;
  EXPECT_EQ(api.clEnqueueReadBuffer(client.queue, buffer, CL_FALSE, 0, 4, &word, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(api.clFinish(client.queue), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(api.clEnqueueReadBuffer(client.queue, buffer, CL_TRUE, 0, 4, &word, 0, nullptr, nullptr), CL_OUT_OF_RESOURCES);
}

/// Enqueues a kernel that fails and has an event.
cl_event failing_bump(FakeServer& server, Client& client, cl_mem buffer) {
  server.fail_kernels = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  cl_event event = nullptr;
  client.bump(buffer, 1, {}, &event);
  return event;
}

cl_int status_of(cl_event event) {
  cl_int status = CL_QUEUED;
  EXPECT_EQ(api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr), CL_SUCCESS);
  return status;
}

void finishes_with(Client& client, cl_int first) {
  EXPECT_EQ(api.clFinish(client.queue), first);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS); // once
}

TEST(Commands, AFailureOfAnEventThatIsReleasedUnseenComesOutAtTheNextFinishOnce) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  for (int i = 0; i < 200; ++i) { // the failure arrives before the release, meanwhile, or after it
    cl_event event = failing_bump(server, client, buffer);
    std::this_thread::sleep_for(std::chrono::microseconds(i));
    EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
    finishes_with(client, CL_OUT_OF_RESOURCES);
  }
}

TEST(Commands, AFailureThatArrivesBeforeItsEventIsReleasedUnseenComesOutToo) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  cl_event event = failing_bump(server, client, buffer);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS); // somebody can still see it
  EXPECT_EQ(api.clRetainEvent(event), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS); // still
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  finishes_with(client, CL_OUT_OF_RESOURCES);
}

TEST(Commands, AFailureThatAQueryWaitOrCallbackTellsIsNotReportedAgain) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  cl_event event = failing_bump(server, client, buffer);
  EXPECT_TRUE(eventually([&] { return status_of(event) == CL_MEM_OBJECT_ALLOCATION_FAILURE; }));
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  finishes_with(client, CL_SUCCESS);
  event = failing_bump(server, client, buffer);
  EXPECT_EQ(api.clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  finishes_with(client, CL_SUCCESS);
  event = failing_bump(server, client, buffer);
  std::atomic<cl_int> told{0};
  const auto tell = [](cl_event, cl_int status, void* to) { static_cast<std::atomic<cl_int>*>(to)->store(status); };
  EXPECT_EQ(api.clSetEventCallback(event, CL_COMPLETE, tell, &told), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  finishes_with(client, CL_SUCCESS);
  EXPECT_TRUE(eventually([&] { return told == CL_MEM_OBJECT_ALLOCATION_FAILURE; }));
}

TEST(Commands, AQueryThatCameTooEarlyHasNotSeenTheFailure) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  server.fail_kernels = CL_OUT_OF_RESOURCES;
  cl_event gate = api.clCreateUserEvent(client.context, nullptr);
  cl_event event = nullptr;
  client.bump(buffer, 1, {gate}, &event);
  EXPECT_EQ(status_of(event), CL_SUBMITTED);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(api.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  finishes_with(client, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(api.clReleaseEvent(gate), CL_SUCCESS);
}

TEST(Commands, AnUnseenFailureComesOutAtABlockingReadOfItsQueueOnly) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  cl_command_queue other = api.clCreateCommandQueue(client.context, client.device, 0, nullptr);
  std::uint32_t word = 0;
  const auto read = [&](cl_command_queue queue) {
    return api.clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, &word, 0, nullptr, nullptr);
  };
  EXPECT_EQ(api.clReleaseEvent(failing_bump(server, client, buffer)), CL_SUCCESS);
  EXPECT_EQ(read(other), CL_SUCCESS);
  EXPECT_EQ(api.clFinish(other), CL_SUCCESS);
  EXPECT_EQ(read(client.queue), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(read(client.queue), CL_SUCCESS);
  finishes_with(client, CL_SUCCESS);
  EXPECT_EQ(api.clReleaseCommandQueue(other), CL_SUCCESS);
}

TEST(Commands, AnUnseenFailureOutlivesItsQueueWithoutHarm) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  const std::size_t size = 1;
  client.bump(buffer); // sets the arguments
  server.fail_kernels = CL_OUT_OF_RESOURCES;
  for (int i = 0; i < 100; ++i) {
    cl_command_queue queue = api.clCreateCommandQueue(client.context, client.device, 0, nullptr);
    cl_event event = nullptr;
    EXPECT_EQ(api.clEnqueueNDRangeKernel(queue, client.kernel, 1, nullptr, &size, nullptr, 0, nullptr, &event), CL_SUCCESS);
    EXPECT_EQ(api.clReleaseCommandQueue(queue), CL_SUCCESS);
    EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  }
  EXPECT_TRUE(eventually([&] { return server.events_known == 0; }));
}

TEST(Commands, ManyThreadsOnOneQueue) {
  FakeServer& server = start_server();
  Client client;
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      cl_kernel kernel = api.clCreateKernel(client.program, "bump", nullptr);
      cl_mem own = api.clCreateBuffer(client.context, 0, 4, nullptr, nullptr);
      const std::uint32_t amount = 2;
      const std::size_t size = 1;
      EXPECT_EQ(api.clSetKernelArg(kernel, 0, sizeof own, &own), CL_SUCCESS);
      EXPECT_EQ(api.clSetKernelArg(kernel, 1, sizeof amount, &amount), CL_SUCCESS);
      for (int i = 0; i < kEach; ++i) {
        cl_event event = nullptr;
        EXPECT_EQ(api.clEnqueueNDRangeKernel(client.queue, kernel, 1, nullptr, &size, nullptr, 0, nullptr, &event), CL_SUCCESS);
        if (i % 3 == 0) {
          EXPECT_EQ(api.clWaitForEvents(1, &event), CL_SUCCESS);
        } else if (i % 3 == 1) {
          EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
        }
        EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
      }
      std::uint32_t word = 0;
      EXPECT_EQ(api.clEnqueueReadBuffer(client.queue, own, CL_TRUE, 0, 4, &word, 0, nullptr, nullptr), CL_SUCCESS);
      EXPECT_EQ(word, amount * kEach);
      EXPECT_EQ(api.clReleaseMemObject(own), CL_SUCCESS);
      EXPECT_EQ(api.clReleaseKernel(kernel), CL_SUCCESS);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(server.kernels_run, static_cast<std::uint64_t>(kThreads * kEach));
}

std::atomic<std::uint32_t> last_round_trips{0};
void remember(driver::Entry, cl_int, std::uint32_t round_trips) { last_round_trips = round_trips; }

TEST(Commands, RoundTripsAreAsAllowed) {
  start_server();
  Client client;
  driver::observe_calls(remember);
  std::vector<std::uint32_t> words(1u << 20);
  cl_mem buffer = client.buffer(words.size() * 4);
  EXPECT_EQ(last_round_trips, 0u);
  client.write(buffer, words.data(), 256u << 10);
  EXPECT_EQ(last_round_trips, 0u);
  client.bump(buffer);
  EXPECT_EQ(last_round_trips, 0u);
  client.write(buffer, words.data(), words.size() * 4);
  EXPECT_LE(last_round_trips, 1u);
  (void)client.read(buffer, 1);
  EXPECT_LE(last_round_trips, 1u);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  EXPECT_LE(last_round_trips, 1u);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  EXPECT_EQ(last_round_trips, 0u); // nothing is open
  cl_event event = nullptr;
  client.bump(buffer, 1, {}, &event);
  EXPECT_EQ(api.clWaitForEvents(1, &event), CL_SUCCESS);
  EXPECT_LE(last_round_trips, 1u);
  EXPECT_EQ(api.clWaitForEvents(1, &event), CL_SUCCESS);
  EXPECT_EQ(last_round_trips, 0u);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  // Initial contents: copied up to 4 MiB, beyond that sent from the program's memory and waited for.
  words.assign(2u << 20, 3);
  buffer = client.buffer(4u << 20, CL_MEM_COPY_HOST_PTR, words.data());
  EXPECT_EQ(last_round_trips, 0u);
  buffer = client.buffer(words.size() * 4, CL_MEM_COPY_HOST_PTR, words.data());
  EXPECT_EQ(last_round_trips, 1u);
  EXPECT_EQ(last_round_trips, static_cast<std::uint32_t>(driver::describe(driver::Entry::clCreateBuffer).round_trips));
  driver::observe_calls(nullptr);
  EXPECT_EQ(client.read(buffer, words.size()), words);
}

} // namespace
} // namespace farcl::test
