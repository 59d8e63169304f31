// Further connections for bulk: made on long links only, cut at any place, and what becomes of the session when they cannot be had.
#include "fixture.hpp"
#include "tests/sanitizer.hpp"

#include <algorithm>

namespace farcl::test {
namespace {

constexpr std::chrono::microseconds kLong{50000};
/// 12 MiB: longer than it takes to find out that the link is long. ThreadSanitizer takes several times longer for each word.
const std::size_t kWords = sanitizers() == "thread" ? 1u << 20 : 3u << 20;

FakeServer::Options long_link() {
  FakeServer::Options options;
  options.plan = [](unsigned) {
    ConnectionPlan plan;
    plan.to_server.claimed_round_trip = plan.to_client.claimed_round_trip = kLong;
    return plan;
  };
  return options;
}

std::vector<std::uint32_t> numbers(std::uint32_t seed) {
  std::vector<std::uint32_t> data(kWords);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<std::uint32_t>(i * 2654435761u) + seed;
  }
  return data;
}

/// Reads until the streams are there.
void warm_up(FakeServer& server, Client& client, cl_mem buffer) {
  const auto data = numbers(1);
  client.write(buffer, data.data(), kWords * 4);
  for (int i = 0; i < 50 && server.streams().connections < 3; ++i) {
    ASSERT_EQ(client.read(buffer, kWords), data);
  }
  ASSERT_TRUE(eventually([&] { return server.streams().connections >= 3; }));
}

/// Writes, kernels and reads whose values depend on all that came before.
void work(Client& client, cl_mem buffer) {
  for (std::uint32_t round = 2; round < 5; ++round) {
    const auto data = numbers(round);
    const cl_event written = client.write(buffer, data.data(), kWords * 4, round % 2 == 0);
    client.bump(buffer, 7);
    auto back = client.read(buffer, kWords);
    std::for_each(back.begin(), back.end(), [](std::uint32_t& word) { word -= 7; });
    ASSERT_TRUE(back == data) << "round " << round;
    if (written != nullptr) {
      EXPECT_EQ(api.clReleaseEvent(written), CL_SUCCESS);
    }
  }
}

TEST(Streams, CarryBulkOnALongLink) {
  FakeServer& server = start_server(long_link());
  Client client;
  cl_mem buffer = client.buffer(kWords * 4);
  warm_up(server, client, buffer);
  const std::uint64_t up = server.to_server->bytes;
  work(client, buffer);
  EXPECT_GT(server.streams().chunks_received, 0u);
  EXPECT_GT(server.streams().chunks_sent, 0u);
  EXPECT_LT(server.to_server->bytes - up, kWords) << "bulk on the stream of commands";
  EXPECT_EQ(server.connections, 1u);
}

TEST(Streams, AreNotMadeOnAShortLink) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(kWords * 4);
  work(client, buffer);
  EXPECT_EQ(server.streams().connections, 0u);
}

TEST(Streams, CutAnywhereNothingIsLostOrComesTwice) {
  for (std::uint64_t at = 1000; at < 3'000'000; at = at * 3 + 17) {
    for (const bool up : {true, false}) {
      FakeServer::Options options = long_link();
      options.stream_plan = [=](unsigned connection) {
        ConnectionPlan plan;
        if (connection < 9) {
          plan.to_server.cut_after_bytes = up ? at : 0;
          plan.to_client.cut_after_bytes = up ? 0 : at;
        }
        return plan;
      };
      FakeServer& server = start_server(options);
      Client client;
      cl_mem buffer = client.buffer(kWords * 4);
      warm_up(server, client, buffer);
      work(client, buffer);
      ASSERT_GT(server.streams().connections, 3u) << "no cut after " << at << " bytes " << (up ? "up" : "down");
      ASSERT_FALSE(HasFailure()) << "cut after " << at << " bytes " << (up ? "up" : "down");
    }
  }
}

TEST(Streams, TheStreamOfCommandsIsCutBesideThem) {
  FakeServer& server = start_server(long_link());
  Client client;
  cl_mem buffer = client.buffer(kWords * 4);
  warm_up(server, client, buffer);
  for (std::uint64_t i = 1; i < 10; ++i) {
    server.cut();
    work(client, buffer);
    ASSERT_TRUE(eventually([&] { return server.connections == i + 1; }));
  }
}

TEST(Streams, AServerWithoutThemIsUsedWithoutThem) {
  FakeServer::Options options = long_link();
  options.stream_plan = [](unsigned) -> ConnectionPlan {
    ConnectionPlan plan;
    plan.to_client.cut_after_bytes = 1; // no answer to the hello
    return plan;
  };
  FakeServer& server = start_server(options);
  Client client;
  cl_mem buffer = client.buffer(kWords * 4);
  warm_up(server, client, buffer);
  work(client, buffer);
  EXPECT_EQ(server.streams().chunks_received, 0u);
}

} // namespace
} // namespace farcl::test
