// farcld: the daemon that lets other programs and machines use this one's OpenCL devices.

#include "daemon/common/options.hpp"
#include "daemon/supervisor/supervisor.hpp"
#include "daemon/supervisor/worker_main.hpp"

#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace {
/// Started without stdin, stdout or stderr, the first descriptors that are opened would take their places, and the log would be
/// written to whatever they are.
void hold_standard_descriptors() {
  for (int fd = ::open("/dev/null", O_RDWR); fd >= 0; fd = ::open("/dev/null", O_RDWR)) {
    if (fd > STDERR_FILENO) {
      ::close(fd);
      return;
    }
  }
}

int run(int argc, char** argv) {
  using namespace farcl::daemon;
  if (argc == 2 && std::string_view(argv[1]) == "--worker") {
    return worker_main();
  }
  const auto parsed = parse_options(argc, argv);
  if (!parsed) {
    std::fprintf(stderr, "farcld: %s\n", parsed.error().message.c_str());
    return kExitUsage;
  }
  if (parsed->text) {
    std::fputs(parsed->text->c_str(), stdout);
    return 0;
  }
  return run_supervisor(parsed->options);
}
} // namespace

int main(int argc, char** argv) {
  try {
    hold_standard_descriptors();
    return run(argc, argv);
  } catch (const std::exception& failure) { // our own bug, or no memory at all
    std::fprintf(stderr, "farcld: %s\n", failure.what());
    return farcl::daemon::kExitFailure;
  }
}
