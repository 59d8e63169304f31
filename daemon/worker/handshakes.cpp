#include "daemon/worker/handshakes.hpp"

#include <thread>

namespace farcl::daemon {

void Handshakes::start(UniqueFd socket, const net::Secret& one_time_key, Then then) {
  if (running_.fetch_add(1) >= kMaxAtOnce) {
    running_.fetch_sub(1);
    return then(fail(ErrorCode::kLimit, "too many connections of one session shake hands"));
  }
  std::thread([this, fd = std::move(socket), one_time_key, then = std::move(then)]() mutable {
    try {
      then(net::accept_encrypted(std::move(fd), one_time_key, kTimeLimit));
    } catch (const std::exception& failure) { // our own bug, or no memory: this connection's end, nobody else's
      then(fail(ErrorCode::kInternal, failure.what()));
    }
    running_.fetch_sub(1);
  }).detach();
}

} // namespace farcl::daemon
