// The two ends of a connection through rings in shared memory, made as client and server make them.
#pragma once

#include "farcl/net/accept.hpp"
#include "farcl/protocol/hello.hpp"
#include "lib/net/src/ring_transport.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <utility>

namespace farcl::testing {

struct RingEnds {
  net::TransportPtr client;
  net::TransportPtr server;
  SharedRegion third; ///< the memory once more, for whoever wants to scribble
};

inline RingEnds make_ring_ends() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  RingEnds made;
  UniqueFd server(ends[0]);
  made.server = std::move(*net::adopt_socket_with_rings(server, -1));
  const protocol::HelloReplyBytes greeting{};
  const ConstBytes part = greeting;
  EXPECT_EQ(*made.server->send(std::span(&part, 1)), part.size());
  protocol::HelloReplyBytes received{};
  auto got = net::receive_with_fds(ends[1], received, 1);
  EXPECT_TRUE(got && got->size_bytes == received.size() && got->fds.size() == 1);
  const int memory = got->fds.front().get();
  made.third = std::move(*SharedRegion::open(UniqueFd(::dup(memory)), net::kRingRegionBytes, net::kRingRegionBytes));
  made.client = std::move(*net::open_rings(UniqueFd(ends[1]), std::move(got->fds.front())));
  return made;
}

} // namespace farcl::testing
