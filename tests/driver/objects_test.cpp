#include "driver/objects/context.hpp"
#include "driver/objects/memory.hpp"
#include "fixture.hpp"

#include <cstring>

namespace farcl::test {
namespace {

using driver::Context;
using driver::Mem;
using driver::Ref;

TEST(Objects, HandlesOfAnotherTypeOrNoneAreRejected) {
  start_server();
  Client client;
  alignas(16) char nothing[64] = {};
  EXPECT_EQ(Context::from(nullptr), nullptr);
  EXPECT_EQ(Context::from(reinterpret_cast<cl_context>(nothing)), nullptr);
  EXPECT_EQ(Context::from(reinterpret_cast<cl_context>(nothing + 1)), nullptr);
  EXPECT_EQ(Context::from(reinterpret_cast<cl_context>(client.queue)), nullptr);
  EXPECT_NE(Context::from(client.context), nullptr);
}

TEST(Objects, AReleasedHandleIsAnErrorAndItsDispatchPointerStaysGood) {
  start_server();
  Client client;
  cl_mem buffer = api.clCreateBuffer(client.context, 0, 64, nullptr, nullptr);
  EXPECT_EQ(api.clReleaseMemObject(buffer), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseMemObject(buffer), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(buffer->dispatch, &driver::kDispatchTable);
}

TEST(Objects, CountsAreApart) {
  start_server();
  Client client;
  cl_mem handle = api.clCreateBuffer(client.context, 0, 64, nullptr, nullptr);
  Mem* buffer = Mem::from(handle);
  Ref<Mem> internal(buffer);
  EXPECT_EQ(buffer->reference_count(), 1u);
  EXPECT_EQ(api.clRetainMemObject(handle), CL_SUCCESS);
  EXPECT_EQ(buffer->reference_count(), 2u);
  EXPECT_EQ(api.clReleaseMemObject(handle), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseMemObject(handle), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseMemObject(handle), CL_INVALID_MEM_OBJECT); // alive, but not the program's any more
  EXPECT_EQ(Mem::from(handle), buffer);
  internal = {};
  EXPECT_EQ(Mem::from(handle), nullptr);
}

TEST(Objects, EverythingIsReleasedOnTheServer) {
  FakeServer& server = start_server();
  {
    Client client;
    cl_mem buffer = client.buffer(64);
    cl_event event = nullptr;
    client.bump(buffer, 1, {}, &event);
    EXPECT_EQ(api.clWaitForEvents(1, &event), CL_SUCCESS);
    EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
    EXPECT_GT(server.objects_alive, 0u);
  }
  EXPECT_TRUE(eventually([&] { return server.objects_alive == 0 && server.events_known == 0; }))
      << server.objects_alive << " objects, " << server.events_known << " events";
}

TEST(Objects, ContextsOutliveTheirReleaseWhileChildrenNeedThem) {
  start_server();
  Client client;
  cl_context context = api.clCreateContext(nullptr, 1, &client.device, nullptr, nullptr, nullptr);
  cl_command_queue queue = api.clCreateCommandQueue(context, client.device, 0, nullptr);
  EXPECT_EQ(api.clReleaseContext(context), CL_SUCCESS);
  cl_context seen = nullptr;
  EXPECT_EQ(api.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof seen, &seen, nullptr), CL_SUCCESS);
  EXPECT_EQ(seen, context);
  EXPECT_EQ(api.clRetainContext(seen), CL_SUCCESS); // may be taken back to life
  EXPECT_EQ(api.clReleaseContext(seen), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseCommandQueue(queue), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseContext(context), CL_INVALID_CONTEXT);
}

} // namespace
} // namespace farcl::test
