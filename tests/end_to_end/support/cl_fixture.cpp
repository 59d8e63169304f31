#include "cl_fixture.hpp"

#include "key_file.hpp"

#include <cstdlib>
#include <memory>

namespace farcl::end_to_end {

namespace {
std::unique_ptr<PrivateServer> the_server;

std::unique_ptr<KeyFile> the_key;

std::unique_ptr<PrivateServer> start_with_key() {
  the_key = std::make_unique<KeyFile>();
  ::setenv("FARCL_KEY_FILE", the_key->path().c_str(), 1);
  return std::make_unique<PrivateServer>(std::vector<std::string>{"--keys", the_key->path()});
}

class ServerEnvironment : public ::testing::Environment {
public:
  void SetUp() override {
    if (std::getenv("FARCL_E2E_NATIVE") != nullptr) {
      return;
    }
    the_server = std::getenv("FARCL_E2E_KEYS") != nullptr ? start_with_key() : std::make_unique<PrivateServer>();
    const bool over_unix = std::getenv("FARCL_E2E_UNIX") != nullptr;
    ::setenv("POCL_REMOTE_SERVERS", (over_unix ? the_server->unix_address() : the_server->tcp_address()).c_str(), 1);
    ::setenv("OCL_ICD_VENDORS", FARCL_VENDORS_PATH, 1);
  }
  void TearDown() override {
    the_server.reset();
    the_key.reset();
  }
};
[[maybe_unused]] ::testing::Environment* const kEnvironment = ::testing::AddGlobalTestEnvironment(new ServerEnvironment);
} // namespace

PrivateServer* server() { return the_server.get(); }

void ClTest::SetUp() {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  ASSERT_FALSE(platforms.empty());
  std::vector<cl::Device> devices;
  platforms.front().getDevices(CL_DEVICE_TYPE_ALL, &devices);
  ASSERT_FALSE(devices.empty());
  device = devices.front();
  context = cl::Context(device);
  queue = cl::CommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE);
  out_of_order = cl::CommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

cl::Program ClTest::build(const std::string& source, const std::string& options) {
  cl::Program program(context, source);
  try {
    program.build(options.c_str());
  } catch (const cl::BuildError& error) {
    for (const auto& [about, log] : error.getBuildLog()) {
      ADD_FAILURE() << "build log: " << log;
    }
    throw;
  }
  return program;
}

} // namespace farcl::end_to_end
