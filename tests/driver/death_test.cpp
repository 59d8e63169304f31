// The end of a server: every call ends, in time, with the right code, and one sentence says why.
#include "driver/session/runtime.hpp"
#include "fixture.hpp"

#include <thread>

namespace farcl::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Everything a program may do with a server that has just gone.
void expect_dead(Client& client, cl_mem buffer) {
  const auto begin = Clock::now();
  std::uint32_t word = 0;
  const std::size_t size = 1;
  EXPECT_EQ(api.clFinish(client.queue), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(api.clEnqueueReadBuffer(client.queue, buffer, CL_TRUE, 0, 4, &word, 0, nullptr, nullptr), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(api.clEnqueueWriteBuffer(client.queue, buffer, CL_TRUE, 0, 4, &word, 0, nullptr, nullptr), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(api.clEnqueueNDRangeKernel(client.queue, client.kernel, 1, nullptr, &size, nullptr, 0, nullptr, nullptr), CL_OUT_OF_RESOURCES);
  cl_int code = 0;
  EXPECT_EQ(api.clCreateContext(nullptr, 1, &client.device, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_DEVICE_NOT_AVAILABLE);
  cl_bool available = CL_TRUE;
  EXPECT_EQ(api.clGetDeviceInfo(client.device, CL_DEVICE_AVAILABLE, sizeof available, &available, nullptr), CL_SUCCESS);
  EXPECT_EQ(available, static_cast<cl_bool>(CL_FALSE));
  EXPECT_LT(seconds_since(begin), 0.2); // at once
}

struct Case {
  FakeServer::Reconnect reconnect;
  const char* text;
  const char* expected;
};

class ProofOfDeath : public testing::TestWithParam<Case> {};

TEST_P(ProofOfDeath, FailsWhatIsPendingAtOnce) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  cl_event gate = api.clCreateUserEvent(client.context, nullptr);
  cl_event event = nullptr;
  client.bump(buffer, 1, {gate}, &event);
  std::uint32_t word = 0;
  std::thread reads(
      [&] { EXPECT_EQ(api.clEnqueueReadBuffer(client.queue, buffer, CL_TRUE, 0, 4, &word, 0, nullptr, nullptr), CL_OUT_OF_RESOURCES); });
  std::thread finishes([&] { EXPECT_EQ(api.clFinish(client.queue), CL_OUT_OF_RESOURCES); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  server.on_reconnect(GetParam().reconnect, GetParam().text);
  testing::internal::CaptureStderr();
  const auto begin = Clock::now();
  server.cut();
  EXPECT_EQ(api.clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  reads.join();
  finishes.join();
  EXPECT_LT(seconds_since(begin), 1.0);
  cl_int status = 0;
  EXPECT_EQ(api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr), CL_SUCCESS);
  EXPECT_EQ(status, CL_OUT_OF_RESOURCES);
  expect_dead(client, buffer);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find(std::string("FarCL: server fake0: ") + GetParam().expected), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  ASSERT_EQ(client.sentences().size(), 1u);
  EXPECT_NE(client.sentences().front().find(GetParam().expected), std::string::npos);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseEvent(gate), CL_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(, ProofOfDeath,
                         testing::Values(Case{FakeServer::Reconnect::kObituary, "kernel 'wild' crashed", "kernel 'wild' crashed"},
                                         Case{FakeServer::Reconnect::kUnknownSession, "", "it has been restarted"},
                                         Case{FakeServer::Reconnect::kRefused, "", "it does not run any more"}));

TEST(Death, AFailedSessionSaysWhyAtOnce) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  client.bump(buffer);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  testing::internal::CaptureStderr();
  server.say([](net::FrameSender& sender) { sender.append(protocol::SessionFailed{"too much memory was asked for"}); });
  EXPECT_TRUE(eventually([&] { return !client.sentences().empty(); }));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("too much memory was asked for"), std::string::npos);
  expect_dead(client, buffer);
}

TEST(Death, NonsenseFromTheServerEndsTheSessionNotTheProgram) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  client.bump(buffer);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  testing::internal::CaptureStderr();
  server.say([](net::FrameSender& sender) { sender.append(protocol::Finished{{123456}, 0}); });
  EXPECT_TRUE(eventually([&] { return !client.sentences().empty(); }));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("FarCL: server fake0: "), std::string::npos);
  expect_dead(client, buffer);
}

TEST(Death, SilenceIsBorneForTheResumeTimeAndNotLonger) {
  FakeServer& server = *start_servers({{}}, 2).front();
  Client client;
  cl_mem buffer = client.buffer(4);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  server.on_reconnect(FakeServer::Reconnect::kNoAnswer);
  server.silent = true;
  testing::internal::CaptureStderr();
  const auto begin = Clock::now();
  client.bump(buffer);
  EXPECT_EQ(api.clFinish(client.queue), CL_OUT_OF_RESOURCES);
  EXPECT_GT(seconds_since(begin), 1.5);
  EXPECT_LT(seconds_since(begin), 5.0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("fake0"), std::string::npos);
  expect_dead(client, buffer);
}

TEST(Death, SilenceThatEndsInTimeIsForgotten) {
  FakeServer& server = *start_servers({{}}, 4).front();
  Client client;
  cl_mem buffer = client.buffer(4);
  server.silent = true;
  std::thread ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    server.silent = false;
  });
  client.bump(buffer, 4);
  EXPECT_EQ(client.read(buffer, 1).front(), 4u);
  ends.join();
}

TEST(Death, OneOfThreeServersDoesNotHideTheOthers) {
  auto servers = start_servers({{}, {}, {}});
  servers[1]->on_reconnect(FakeServer::Reconnect::kNoAnswer);
  testing::internal::CaptureStderr();
  cl_platform_id platform = nullptr;
  EXPECT_EQ(api.clGetPlatformIDs(1, &platform, nullptr), CL_SUCCESS);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("fake1"), std::string::npos);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  cl_device_id devices[3] = {};
  cl_uint count = 0;
  EXPECT_EQ(api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 3, devices, &count), CL_SUCCESS);
  EXPECT_EQ(count, 2u);
  char name[100] = {};
  EXPECT_EQ(api.clGetDeviceInfo(devices[1], CL_DEVICE_NAME, sizeof name, name, nullptr), CL_SUCCESS);
  EXPECT_STREQ(name, "fake 0 @ fake2");
  cl_int code = 0;
  EXPECT_EQ(api.clCreateContext(nullptr, 2, devices, nullptr, nullptr, &code), nullptr); // of two servers
  EXPECT_EQ(code, CL_INVALID_DEVICE);
}

TEST(Death, NoServerNoPlatform) {
  driver::Runtime::instance().reset_for_tests(Config{}, {});
  cl_uint count = 99;
  (void)api.clGetPlatformIDs(0, nullptr, &count);
  EXPECT_EQ(count, 0u);
}

} // namespace
} // namespace farcl::test
