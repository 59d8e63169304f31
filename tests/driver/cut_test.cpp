// Connections that are cut at every place: nothing is lost, nothing runs twice.
#include "fixture.hpp"
#include "tests/sanitizer.hpp"

#include <algorithm>
#include <random>

namespace farcl::test {
namespace {

/// Small and large transfers in both directions, kernels, events, a map: what the bytes are in the end depends on every one of them.
std::vector<std::uint32_t> work(std::size_t words) {
  Client client;
  std::vector<std::uint32_t> data(words);
  for (std::size_t i = 0; i < words; ++i) {
    data[i] = static_cast<std::uint32_t>(i * 2654435761u);
  }
  cl_mem buffer = client.buffer(words * 4);
  client.write(buffer, data.data(), words * 4);
  cl_event event = nullptr;
  for (std::uint32_t i = 0; i < 5; ++i) {
    client.bump(buffer, 1, {}, i == 4 ? &event : nullptr);
  }
  EXPECT_EQ(api.clWaitForEvents(1, &event), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  auto* mapped = static_cast<std::uint32_t*>(
      api.clEnqueueMapBuffer(client.queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 64, 0, nullptr, nullptr, nullptr));
  for (int i = 0; mapped != nullptr && i < 16; ++i) {
    mapped[i] ^= 0xff;
  }
  EXPECT_EQ(api.clEnqueueUnmapMemObject(client.queue, buffer, mapped, 0, nullptr, nullptr), CL_SUCCESS);
  client.bump(buffer, 10);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  return client.read(buffer, words);
}

std::vector<std::uint32_t> expected(std::size_t words) {
  std::vector<std::uint32_t> out(words);
  for (std::size_t i = 0; i < words; ++i) {
    out[i] = static_cast<std::uint32_t>(i * 2654435761u) + 5;
    out[i] = (i < 16 ? out[i] ^ 0xff : out[i]) + 10;
  }
  return out;
}

struct Totals {
  std::uint64_t to_server;
  std::uint64_t to_client;
};

Totals measure(std::size_t words) {
  FakeServer& server = start_server();
  EXPECT_EQ(work(words), expected(words));
  return {server.to_server->bytes, server.to_client->bytes};
}

/// Runs the program with connections as planned, and checks what it computed. Returns the connections that the session needed.
std::uint64_t run_with(std::size_t words, std::function<ConnectionPlan(unsigned connection)> plan) {
  FakeServer::Options options;
  options.plan = std::move(plan);
  FakeServer& server = start_server(options);
  EXPECT_EQ(work(words), expected(words));
  EXPECT_EQ(server.kernels_run, 6u);
  return server.connections;
}

/// The first connection breaks after that many bytes of one direction; with `again` the following ones too.
std::uint64_t run_with_cut(std::size_t words, std::uint64_t to_server, std::uint64_t to_client, bool again) {
  SCOPED_TRACE("cut after " + std::to_string(to_server) + " bytes up, " + std::to_string(to_client) + " bytes down");
  return run_with(words, [=](unsigned connection) {
    ConnectionPlan plan;
    if (connection == 0 || (again && connection < 4)) {
      plan.to_server.cut_after_bytes = to_server;
      plan.to_client.cut_after_bytes = to_client;
      plan.to_server.max_bytes_per_call = connection % 2 == 1 ? 100 : 0;
    }
    return plan;
  });
}

/// The first connection breaks right behind a frame of one direction (0: not in this direction).
std::uint64_t run_with_cut_behind_frame(std::size_t words, std::uint64_t to_server, std::uint64_t to_client) {
  SCOPED_TRACE("cut behind frame " + std::to_string(to_server) + " up, " + std::to_string(to_client) + " down");
  return run_with(words, [=](unsigned connection) {
    ConnectionPlan plan;
    plan.to_server.follow_frames = plan.to_client.follow_frames = true;
    plan.to_server.cut_after_sequence = connection == 0 ? to_server : 0;
    plan.to_client.cut_after_sequence = connection == 0 ? to_client : 0;
    return plan;
  });
}

// The first message is larger than some of these numbers; a session whose handshake is cut never came up, which is another test.
constexpr std::uint64_t kAfterHandshake = 2000;

/// Under ThreadSanitizer a sample of the places is enough: it looks at threads, and takes ten times as long for each.
std::uint64_t every(std::uint64_t step) { return sanitizers() == "thread" ? step * 5 : step; }

/// Cuts at `first`, `first` + `step`, ... of both directions. How many bytes a run takes varies a little (acknowledgements), so the last
/// cuts may come too late; nearly all must have happened.
void cut_everywhere(std::size_t words, std::uint64_t first, std::uint64_t step) {
  const Totals totals = measure(words);
  int cuts = 0;
  int happened = 0;
  const auto run = [&](std::uint64_t to_server, std::uint64_t to_client) {
    ++cuts;
    happened += run_with_cut(words, to_server, to_client, false) == 2 ? 1 : 0;
    return !testing::Test::HasFailure();
  };
  for (std::uint64_t at = first; at < totals.to_server && run(at, 0); at += step) {
  }
  for (std::uint64_t at = std::max(first, kAfterHandshake); at < totals.to_client && run(0, at); at += step) {
  }
  EXPECT_GT(happened, cuts * 8 / 10);
}

TEST(Cut, EveryFewBytesOfASmallProgram) { cut_everywhere(100, 1, every(13)); }

/// Frame 1 of the server is part of the handshake. Nobody repairs a connection for the last frames, behind which nothing is wanted.
TEST(Cut, RightBehindEveryFrame) {
  constexpr std::size_t kWords = 100'000; // bulk in both directions
  FakeServer::Options options;
  options.plan = [](unsigned) {
    ConnectionPlan plan;
    plan.to_server.follow_frames = plan.to_client.follow_frames = true;
    return plan;
  };
  FakeServer& server = start_server(options);
  EXPECT_EQ(work(kWords), expected(kWords));
  const std::uint64_t up = server.to_server->last_sequence;
  const std::uint64_t down = server.to_client->last_sequence;
  ASSERT_GT(up, 20u);
  ASSERT_GT(down, 4u);
  std::uint64_t cuts = 0;
  std::uint64_t happened = 0;
  const auto run = [&](std::uint64_t up_to, std::uint64_t down_to) {
    ++cuts;
    happened += run_with_cut_behind_frame(kWords, up_to, down_to) - 1;
  };
  for (std::uint64_t frame = 1; frame < up && !HasFailure(); frame += every(1)) {
    run(frame, 0);
  }
  for (std::uint64_t frame = 2; frame < down && !HasFailure(); frame += every(1)) {
    run(0, frame);
  }
  EXPECT_GE(happened + 5, cuts); // the program's last releases and their acknowledgements are not missed
}

TEST(Cut, AtEvery4KiBOfBulk) { cut_everywhere(100000, 4000, every(4096)); }

TEST(Cut, SeveralTimesInARow) {
  std::mt19937 random(11);
  for (int i = 0; i < 30; ++i) {
    ASSERT_GT(run_with_cut(60000, 3000 + random() % 100000, 3000 + random() % 100000, true), 2u);
  }
}

TEST(Cut, WhileNobodyWaitsTheIoThreadRepairs) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  client.bump(buffer);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  server.cut();
  EXPECT_TRUE(eventually([&] { return server.connections == 2; }));
  client.bump(buffer);
  EXPECT_EQ(client.read(buffer, 1).front(), 2u);
}

} // namespace
} // namespace farcl::test
