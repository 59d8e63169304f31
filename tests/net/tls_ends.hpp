// Connected TCP sockets of this machine, and encrypted transports over them.
#pragma once

#include "farcl/net/accept.hpp"
#include "lib/net/src/tls_transport.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

namespace farcl::testing {

struct ConnectedSockets {
  ConnectedSockets() {
    auto listener = net::listen_tcp({"127.0.0.1", 0});
    EXPECT_TRUE(listener.has_value());
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(*net::bound_port(listener->get()));
    client.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    server.reset(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  UniqueFd client;
  UniqueFd server;
};

inline std::pair<net::TransportPtr, net::TransportPtr> make_tls_ends() {
  ConnectedSockets sockets;
  net::Secret secret;
  secret.bytes.fill(5);
  auto client = std::move(*net::TlsTransport::make(net::TlsRole::kClient, std::move(sockets.client), &secret));
  net::TransportPtr server;
  std::thread accepting([&] { server = std::move(*net::accept_encrypted(std::move(sockets.server), secret, std::chrono::seconds(5))); });
  EXPECT_TRUE(client->finish_handshake(net::deadline_after(std::chrono::seconds(5))).has_value());
  accepting.join();
  return {std::move(client), std::move(server)};
}

} // namespace farcl::testing
