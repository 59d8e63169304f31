#include "fixture.hpp"

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace farcl::test {
namespace {

/// Exit code of `child` run in a forked process, -1 if it did not end in five seconds.
int run_in_child(const std::function<int()>& child) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::_exit(child());
  }
  int status = 0;
  for (int i = 0; i < 500; ++i) {
    if (::waitpid(pid, &status, WNOHANG) == pid) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
    }
    ::usleep(10000);
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, &status, 0);
  return -1;
}

TEST(Fork, TheChildGetsErrorsAndTheParentGoesOn) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  cl_event gate = api.clCreateUserEvent(client.context, nullptr);
  cl_event event = nullptr;
  client.bump(buffer, 1, {gate}, &event);
  // The loopback transport, unlike a socket, has a lock that its destructor takes: fork while no thread uses it.
  server.silent = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const int code = run_in_child([&] {
    std::uint32_t word = 0;
    const std::size_t size = 1;
    int wrong = 0;
    wrong += api.clFinish(client.queue) != CL_OUT_OF_RESOURCES;
    wrong += api.clEnqueueReadBuffer(client.queue, buffer, CL_TRUE, 0, 4, &word, 0, nullptr, nullptr) != CL_OUT_OF_RESOURCES;
    wrong +=
        api.clEnqueueNDRangeKernel(client.queue, client.kernel, 1, nullptr, &size, nullptr, 0, nullptr, nullptr) != CL_OUT_OF_RESOURCES;
    wrong += api.clWaitForEvents(1, &event) != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    wrong += api.clReleaseMemObject(buffer) != CL_SUCCESS;
    cl_platform_id platform = nullptr;
    wrong += api.clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS;
    cl_int created = 0;
    wrong += api.clCreateContext(nullptr, 1, &client.device, nullptr, nullptr, &created) != nullptr || created != CL_DEVICE_NOT_AVAILABLE;
    return wrong;
  });
  EXPECT_EQ(code, 0);
  server.silent = false;
  EXPECT_EQ(api.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(client.read(buffer, 1).front(), 1u);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseEvent(gate), CL_SUCCESS);
}

} // namespace
} // namespace farcl::test
