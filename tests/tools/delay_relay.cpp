// delay_relay: a TCP relay that delays every byte, as a long line would.
//
//   delay_relay HOST:PORT DELAY_MS     (one way; a round trip through it takes twice that longer)
//
// Prints the address that it listens on, 127.0.0.1:PORT, and serves until it is killed. One thread, one poll loop.
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {
using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostInFlight = std::size_t{64} << 20; ///< per direction; more waits in the sender's socket
constexpr std::size_t kReadBytes = 256 << 10;

struct Chunk {
  Clock::time_point due;
  std::vector<char> bytes;
  std::size_t sent = 0;
};

// One direction of a connection.
struct Pipe {
  int from = -1;
  int to = -1;
  std::deque<Chunk> chunks;
  std::size_t in_flight = 0;
  bool ended = false;  ///< `from` has closed
  bool closed = false; ///< and `to` has been told

  [[nodiscard]] bool wants_to_read() const { return !ended && in_flight < kMostInFlight; }
  [[nodiscard]] bool is_due(Clock::time_point now) const { return !chunks.empty() && chunks.front().due <= now; }

  void read_some(std::chrono::microseconds delay) {
    std::vector<char> bytes(kReadBytes);
    const ssize_t got = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      bytes.resize(static_cast<std::size_t>(got));
      in_flight += bytes.size();
      chunks.push_back({Clock::now() + delay, std::move(bytes)});
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      ended = true;
    }
  }

  void write_what_is_due() {
    while (is_due(Clock::now())) {
      Chunk& chunk = chunks.front();
      const ssize_t put = ::send(to, chunk.bytes.data() + chunk.sent, chunk.bytes.size() - chunk.sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (put < 0) {
        if (errno != EAGAIN && errno != EINTR) {
          chunks.clear();
          ended = true;
        }
        break;
      }
      chunk.sent += static_cast<std::size_t>(put);
      if (chunk.sent == chunk.bytes.size()) {
        in_flight -= chunk.bytes.size();
        chunks.pop_front();
      }
    }
    if (ended && chunks.empty() && !closed) {
      ::shutdown(to, SHUT_WR);
      closed = true;
    }
  }
};

struct Connection {
  Pipe up;
  Pipe down;
  Connection(int client, int server) {
    up.from = down.to = client;
    up.to = down.from = server;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    ::close(up.from);
    ::close(up.to);
  }
  [[nodiscard]] bool is_over() const { return up.closed && down.closed; }
};

void no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int connect_to(const sockaddr_in& address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

class Relay {
public:
  Relay(const sockaddr_in& target, std::chrono::microseconds delay) : target_(target), delay_(delay) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      std::perror("delay_relay");
      std::exit(1);
    }
    std::printf("127.0.0.1:%u\n", unsigned{ntohs(address.sin_port)});
    std::fflush(stdout);
  }

  [[noreturn]] void serve() {
    for (;;) {
      sleep_until_something_is_to_do();
      for (const auto& connection : connections_) {
        for (Pipe* pipe : {&connection->up, &connection->down}) {
          if (pipe->wants_to_read()) {
            pipe->read_some(delay_);
          }
          pipe->write_what_is_due();
        }
      }
      std::erase_if(connections_, [](const auto& connection) { return connection->is_over(); });
    }
  }

private:
  void accept_one() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int server = client >= 0 ? connect_to(target_) : -1;
    if (server < 0) {
      ::close(client);
      return;
    }
    no_delay(client);
    no_delay(server);
    connections_.push_back(std::make_unique<Connection>(client, server));
  }

  void sleep_until_something_is_to_do() {
    std::vector<pollfd> waits{{listener_, POLLIN, 0}};
    auto wake = Clock::now() + std::chrono::seconds(1);
    for (const auto& connection : connections_) {
      for (const Pipe* pipe : {&connection->up, &connection->down}) {
        if (pipe->wants_to_read()) {
          waits.push_back({pipe->from, POLLIN, 0});
        }
        if (pipe->is_due(Clock::now())) {
          waits.push_back({pipe->to, POLLOUT, 0});
        } else if (!pipe->chunks.empty()) {
          wake = std::min(wake, pipe->chunks.front().due);
        }
      }
    }
    const auto left = std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(wake - Clock::now()).count());
    const timespec timeout{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
    ::ppoll(waits.data(), waits.size(), &timeout, nullptr);
    if (waits.front().revents != 0) {
      accept_one();
    }
  }

  sockaddr_in target_;
  std::chrono::microseconds delay_;
  int listener_ = -1;
  std::vector<std::unique_ptr<Connection>> connections_;
};
} // namespace

int main(int argc, char** argv) {
  const char* colon = argc == 3 ? std::strrchr(argv[1], ':') : nullptr;
  sockaddr_in target{};
  target.sin_family = AF_INET;
  if (colon == nullptr ||
      ::inet_pton(AF_INET, std::string(argv[1], static_cast<std::size_t>(colon - argv[1])).c_str(), &target.sin_addr) != 1) {
    std::fprintf(stderr, "usage: delay_relay ADDRESS:PORT DELAY_MS\n");
    return 2;
  }
  target.sin_port = htons(static_cast<std::uint16_t>(std::atoi(colon + 1)));
  ::prctl(PR_SET_TIMERSLACK, 1000UL); // wake when the bytes are due, not 50 us later
  Relay(target, std::chrono::microseconds(static_cast<long>(std::atof(argv[2]) * 1000))).serve();
}
