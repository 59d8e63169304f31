#include "daemon/supervisor/listener.hpp"

#include <cerrno>
#include <chrono>
#include <sys/socket.h>
#include <system_error>

namespace farcl::daemon {

namespace {
inline constexpr int kAcceptsPerTurn = 32; ///< then the sessions' events get their turn
inline constexpr std::chrono::milliseconds kPause{100};
} // namespace

Listener::~Listener() {
  loop_.cancel(pause_);
  loop_.forget(listening_.get());
}

Status Listener::start() {
  return loop_.watch(listening_.get(), [this] { accept_some(); });
}

void Listener::accept_some() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    UniqueFd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) {
      on_accept_(std::move(socket));
      continue;
    }
    switch (errno) {
    case EAGAIN: return;
    case EINTR:
    case ECONNABORTED: continue;  // that one has gone again; the next may be fine
    default: return pause(errno); // EMFILE, ENFILE, ENOBUFS, ENOMEM and the network's own: waiting is all that helps
    }
  }
}

void Listener::pause(int reason) {
  log_.write(LogLevel::kError, "cannot accept connections just now: " + std::generic_category().message(reason));
  loop_.forget(listening_.get());
  pause_ = loop_.run_after(kPause, [this] {
    pause_ = 0;
    if (auto status = start(); !status) {
      pause(status.error().system_errno);
    }
  });
}

} // namespace farcl::daemon
