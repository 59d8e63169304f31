#include "tcp_connect.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace farcl::net {

namespace {
/// A silent address is given this long before the next one is tried beside it.
constexpr auto kHeadStart = std::chrono::milliseconds(150);

/// One race of connection attempts. Everything runs inside io_context::run_until on the caller's thread.
class Race {
public:
  explicit Race(const std::vector<SocketAddress>& addresses) : addresses_(addresses), next_start_(context_) {}

  Result<UniqueFd> run(Clock::time_point deadline) {
    start_next();
    context_.run_until(deadline);
    if (winner_) {
      return std::move(winner_);
    }
    if (running_ != 0) {
      return fail(ErrorCode::kTimeout, "it does not answer");
    }
    auto failure = fail_errno(last_error_.value(), "no connection");
    failure.value().code = ErrorCode::kDisconnected;
    return failure;
  }

private:
  using Socket = asio::ip::tcp::socket;

  void start_next() {
    while (!winner_ && next_ < addresses_.size()) {
      asio::ip::tcp::endpoint endpoint;
      const SocketAddress& address = addresses_[next_++];
      endpoint.resize(address.length);
      std::memcpy(endpoint.data(), &address.storage, address.length);
      auto socket = std::make_shared<Socket>(context_);
      // Made by hand: Asio's own are for a moment not close-on-exec, and other threads may be starting programs.
      UniqueFd made(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (!made) {
        last_error_ = {errno, std::generic_category()}; // no such family here, or no descriptor left
        continue;
      }
      socket->assign(endpoint.protocol(), made.release());
      ++running_;
      socket->async_connect(endpoint, [this, socket](const std::error_code& error) { finish(*socket, error); });
      if (next_ < addresses_.size()) {
        next_start_.expires_after(kHeadStart);
        next_start_.async_wait([this](const std::error_code& cancelled) {
          if (!cancelled) {
            start_next();
          }
        });
      }
      return;
    }
  }

  void finish(Socket& socket, const std::error_code& error) {
    --running_;
    if (winner_) {
      return;
    }
    if (error) {
      last_error_ = error;
      start_next();
      if (running_ == 0) {
        context_.stop(); // do not wait for the timer
      }
      return;
    }
    std::error_code released;
    winner_.reset(socket.release(released));
    context_.stop();
  }

  const std::vector<SocketAddress>& addresses_;
  asio::io_context context_{1};
  asio::steady_timer next_start_;
  std::size_t next_ = 0;
  std::size_t running_ = 0;
  std::error_code last_error_{ECONNREFUSED, std::generic_category()};
  UniqueFd winner_;
};
} // namespace

Result<UniqueFd> connect_tcp(const std::vector<SocketAddress>& addresses, Clock::time_point deadline) {
  try {
    Race race(addresses);
    return race.run(deadline);
  } catch (const std::system_error& error) { // Asio could not make its own descriptors
    return fail_errno(error.code().value(), "no socket could be made");
  }
}

} // namespace farcl::net
