#include "cut_relay.hpp"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace farcl::end_to_end {

namespace {
constexpr std::size_t kMostSeen = 4u << 20;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}
} // namespace

CutRelay::CutRelay(const std::string& server)
    : server_port_(static_cast<std::uint16_t>(std::stoi(server.substr(server.rfind(':') + 1)))),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, length) != 0 || ::listen(listener_, 16) != 0 || ::getsockname(listener_, generic, &length) != 0) {
    throw std::runtime_error("no relay");
  }
  address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  thread_ = std::thread([this] { serve(); });
}

CutRelay::~CutRelay() {
  stop_ = true;
  thread_.join();
  close_all();
  ::close(listener_);
}

bool CutRelay::has_seen(const std::string& text) {
  const std::lock_guard<std::mutex> held(seen_mutex_);
  return seen_.find(text) != std::string::npos;
}

void CutRelay::close_all() {
  for (const Pair& pair : pairs_) {
    ::close(pair.client);
    ::close(pair.server);
  }
  pairs_.clear();
}

void CutRelay::accept_one() {
  Pair pair;
  pair.client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  pair.server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(server_port_);
  if (::connect(pair.server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    ++connections_;
    pairs_.push_back(pair);
    return;
  }
  ::close(pair.client);
  ::close(pair.server);
}

/// False at the end of the connection. Waits for a receiver that is slow: it always reads in these tests.
bool CutRelay::move(int from, int to) {
  static thread_local std::array<char, 256 << 10> bytes;
  const ssize_t got = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  for (ssize_t at = 0; at < got;) {
    const ssize_t sent = ::send(to, bytes.data() + at, static_cast<std::size_t>(got - at), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    at += sent;
  }
  if (got > 0) {
    const std::lock_guard<std::mutex> held(seen_mutex_);
    seen_.append(bytes.data(), std::min(static_cast<std::size_t>(got), kMostSeen - std::min(seen_.size(), kMostSeen)));
  }
  return got > 0;
}

void CutRelay::serve() {
  while (!stop_) {
    std::vector<pollfd> all{{listener_, POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      all.push_back({pair.client, POLLIN, 0});
      all.push_back({pair.server, POLLIN, 0});
    }
    ::poll(all.data(), all.size(), 5);
    if (cut_.exchange(false)) {
      close_all();
      continue;
    }
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      const Pair pair = pairs_[i];
      const bool lives = (all[1 + 2 * i].revents == 0 || move(pair.client, pair.server)) &&
                         (all[2 + 2 * i].revents == 0 || move(pair.server, pair.client));
      if (!lives) {
        ::close(pair.client);
        ::close(pair.server);
        pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (all[0].revents != 0) {
      accept_one();
    }
  }
}

} // namespace farcl::end_to_end
