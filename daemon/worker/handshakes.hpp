// Handshakes of connections that come encrypted.
//
// Threads: each handshake has one of its own, for at most some seconds, so that neither the session nor the supervisor's orders wait for
// a client. Nobody hears of a connection whose handshake fails: to be shown a hello, or a copy of one, disturbs no session.
#pragma once

#include "farcl/net/accept.hpp"

#include <atomic>
#include <functional>

namespace farcl::daemon {

class Handshakes {
public:
  /// More at once are no client of ours: the next connection is closed.
  static constexpr int kMaxAtOnce = 8;
  static constexpr std::chrono::seconds kTimeLimit{5};

  using Then = std::function<void(Result<net::TransportPtr>)>;
  /// Calls `then` on the handshake's thread. This object must live until then.
  void start(UniqueFd socket, const net::Secret& one_time_key, Then then);

private:
  std::atomic<int> running_{0};
};

} // namespace farcl::daemon
