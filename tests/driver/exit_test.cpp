// What the driver says when the program exits: that nobody will come back. Everything goes on as before.
#include "fixture.hpp"

#include "driver/session/runtime.hpp"

#include <thread>

namespace farcl::test {
namespace {

TEST(Exit, IsAnnouncedAndTheSessionGoesOn) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  client.bump(buffer);
  driver::announce_exit();
  EXPECT_TRUE(eventually([&] { return server.leaving == 1; }));
  client.bump(buffer); // as a destructor that runs later may do
  EXPECT_EQ(client.read(buffer, 1).front(), 2u);
  server.cut(); // nor does it end a session that can be resumed
  client.bump(buffer);
  EXPECT_EQ(client.read(buffer, 1).front(), 3u);
}

TEST(Exit, IsNotAnnouncedWhileTheConnectionIsCut) {
  FakeServer& server = start_server();
  Client client;
  cl_mem buffer = client.buffer(4);
  server.on_reconnect(FakeServer::Reconnect::kNoAnswer);
  server.cut();
  EXPECT_TRUE(eventually([&] { return server.connections >= 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  driver::announce_exit();
  server.on_reconnect(FakeServer::Reconnect::kWelcome);
  client.bump(buffer);
  EXPECT_EQ(client.read(buffer, 1).front(), 1u);
  EXPECT_EQ(server.leaving, 0u);
}

} // namespace
} // namespace farcl::test
