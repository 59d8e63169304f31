// A transfer of gigabytes in one call: right, and neither side needs much memory beside the data.
//
// As large as the machine allows within the test's time; FARCL_LARGE_MIB in the environment chooses another size: 4097 is more
// than 32 bits can count.
#include "support/child_program.hpp"
#include "support/private_server.hpp"
#include "tests/sanitizer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

namespace farcl::end_to_end {
namespace {

using std::chrono::seconds;
constexpr long kMostBeyondKiB = 64 * 1024;

/// A number of /proc/PID/status or /proc/meminfo, in KiB.
long kib_of(const std::string& file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;) {
    if (long kib = 0; word == name && lines >> kib) {
      return kib;
    }
  }
  return 0;
}

std::size_t size_mib() {
  if (const char* wanted = std::getenv("FARCL_LARGE_MIB"); wanted != nullptr) {
    return std::strtoull(wanted, nullptr, 10);
  }
  const std::size_t most = test::is_sanitized() ? 256 : 1024;
  return std::min<std::size_t>(most, static_cast<std::size_t>(kib_of("/proc/meminfo", "MemAvailable:")) / 1024 / 8);
}

TEST(Large, AGigabyteInOneCallNeedsLittleMemoryBesideItself) {
  PrivateServer server;
  const std::size_t mib = size_mib();
  ASSERT_GE(mib, 16u);
  ChildProgram program({FARCL_LARGE_PROGRAM, std::to_string(mib << 20)}, server.tcp_address());
  ASSERT_TRUE(program.wait_for_output("beyond ", seconds(240))) << program.output();
  ASSERT_TRUE(program.wait_for_output("\n", seconds(5)));
  long worker_beyond = -1;
  for (const pid_t worker : server.workers()) {
    const long peak = kib_of("/proc/" + std::to_string(worker) + "/status", "VmHWM:");
    worker_beyond = std::max(worker_beyond, peak - static_cast<long>(mib << 10));
  }
  const std::string& out = program.output();
  const long client_beyond = std::atol(out.c_str() + out.find("beyond ") + 7);
  std::printf("%s", out.substr(0, out.find('\n') + 1).c_str());
  std::printf("beyond the data: client %ld KiB, server %ld KiB\n", client_beyond, worker_beyond);
  EXPECT_NE(out.find(" 0 words wrong"), std::string::npos) << out;
  EXPECT_GE(worker_beyond, 0) << "the buffer was not there";
  if (!test::is_sanitized()) { // a sanitizer's own memory is as large as the data
    EXPECT_LE(client_beyond, kMostBeyondKiB);
    EXPECT_LE(worker_beyond, kMostBeyondKiB);
  }
}

} // namespace
} // namespace farcl::end_to_end
