// Prints the figures of docs/performance.md about links: run it as root on a quiet machine.
//   link_figures [SECONDS of each busy link] [MiB of each bulk]
#include "support/far_server.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace farcl::netns {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::unique_ptr<FarServer> start(const LinkConditions& conditions) {
  std::string why;
  auto server = FarServer::start(conditions, why);
  if (!server) {
    std::printf("no emulated link here: %s\n", why.c_str());
    std::exit(1);
  }
  return server;
}

double quickest(const FarServer& server, const std::string& mode) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const Figures figures = server.run({mode}, seconds(60));
    if (!figures.right) {
      std::printf("%s: %s\n", mode.c_str(), figures.text.c_str());
      std::exit(1);
    }
    best = std::min(best, figures.values.at("milliseconds"));
  }
  return best;
}

void round_trips() {
  const auto server = start({});
  std::printf("| program | work | 1 ms | 10 ms | 100 ms |\n|---|---|---|---|---|\n");
  for (const char* mode : {"calls", "first-result"}) {
    server->link().set({});
    const double work = quickest(*server, mode);
    std::printf("| %s | %.1f ms |", mode, work);
    for (const int round_trip : {1, 10, 100}) {
      server->link().set({.delay = std::chrono::microseconds(round_trip * 500)});
      std::printf(" %.1f |", (quickest(*server, mode) - work) / round_trip);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

void print_run(const char* what, const FarServer& server, const std::vector<std::string>& words) {
  std::printf("\n%s\n%s", what, server.run(words, seconds(300)).text.c_str());
  std::fflush(stdout);
}

int main_of(const std::string& busy_seconds, const std::string& mebibytes) {
  round_trips();
  for (const char* way : {"up", "down"}) {
    const auto server = start({.delay = milliseconds(1), .megabits_per_second = 100});
    print_run(("100 Mbit/s, 2 ms, busy " + std::string(way)).c_str(), *server, {"busy-link", way, busy_seconds});
  }
  for (const char* way : {"up", "down"}) {
    const auto server = start({.delay = milliseconds(50), .megabits_per_second = 300, .queue_bytes = 4u << 20});
    print_run(("300 Mbit/s, 100 ms, " + std::string(way)).c_str(), *server, {"bulk", way, mebibytes});
  }
  const auto server = start({.delay = milliseconds(5), .loss = 0.01});
  print_run("1 % loss, 10 ms", *server, {"exchange", "5"});
  return 0;
}

} // namespace
} // namespace farcl::netns

int main(int argc, char** argv) { return farcl::netns::main_of(argc > 1 ? argv[1] : "10", argc > 2 ? argv[2] : "256"); }
