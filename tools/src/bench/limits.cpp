#include "limits.hpp"

#include "farcl/base/unique_fd.hpp"
#include "measure.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <vector>

namespace farcl::tools::bench {

namespace {
constexpr std::size_t kRotateBytes = std::size_t{256} << 20;
constexpr std::size_t kRequestBytes = 64;
constexpr std::size_t kReplyBytes = 8;

[[noreturn]] void fail_with_errno(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// The processors we may run on; the first two carry the two ends.
class Cores {
public:
  Cores() {
    CPU_ZERO(&allowed_);
    ::sched_getaffinity(0, sizeof allowed_, &allowed_);
    for (int cpu = 0; cpu < CPU_SETSIZE && count_ < 2; ++cpu) {
      if (CPU_ISSET(cpu, &allowed_)) {
        chosen_[count_++] = cpu;
      }
    }
  }
  ~Cores() { ::sched_setaffinity(0, sizeof allowed_, &allowed_); }
  Cores(const Cores&) = delete;
  Cores& operator=(const Cores&) = delete;

  [[nodiscard]] bool two() const { return count_ == 2; }
  void pin_to(std::size_t which) const {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(chosen_[two() ? which : 0], &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }

private:
  cpu_set_t allowed_;
  int chosen_[2] = {0, 0};
  std::size_t count_ = 0;
};

struct SocketPair {
  UniqueFd near;
  UniqueFd far;
};

SocketPair connect_over_loopback() {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  SocketPair pair{UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), UniqueFd()};
  if (!listener || !pair.near || ::bind(listener.get(), generic, length) != 0 || ::listen(listener.get(), 1) != 0 ||
      ::getsockname(listener.get(), generic, &length) != 0 || ::connect(pair.near.get(), generic, length) != 0) {
    fail_with_errno("cannot make a TCP connection over loopback");
  }
  pair.far.reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int on = 1;
  for (const UniqueFd* end : {&pair.near, &pair.far}) {
    ::setsockopt(end->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return pair;
}

// Both spin: they never sleep in the kernel, so that no wake-up is part of the figure.
void receive_all(int fd, char* into, std::size_t size) {
  for (std::size_t got = 0; got < size;) {
    const ssize_t count = ::recv(fd, into + got, size - got, MSG_DONTWAIT);
    if (count > 0) {
      got += static_cast<std::size_t>(count);
    } else if (count == 0) {
      throw std::runtime_error("the loopback connection closed");
    }
  }
}
void send_all(int fd, const char* from, std::size_t size) {
  for (std::size_t put = 0; put < size;) {
    const ssize_t count = ::send(fd, from + put, size - put, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) {
      put += static_cast<std::size_t>(count);
    } else if (errno != EAGAIN && errno != EINTR) {
      fail_with_errno("sending over loopback");
    }
  }
}

// Walks through a large memory, so that no cache flatters the figure.
class Rotation {
public:
  Rotation(std::vector<char>& memory, std::size_t step) : memory_(memory), step_(step) {}
  char* next() {
    char* here = memory_.data() + at_;
    at_ = at_ + 2 * step_ <= memory_.size() ? at_ + step_ : 0;
    return here;
  }

private:
  std::vector<char>& memory_;
  std::size_t step_;
  std::size_t at_ = 0;
};

double measure_round_trip(const Cores& cores, std::size_t rounds) {
  const SocketPair pair = connect_over_loopback();
  std::thread peer([&] {
    cores.pin_to(1);
    char bytes[kRequestBytes];
    for (std::size_t i = 0; i < rounds; ++i) {
      receive_all(pair.far.get(), bytes, kRequestBytes);
      send_all(pair.far.get(), bytes, kReplyBytes);
    }
  });
  cores.pin_to(0);
  Sample sample;
  char bytes[kRequestBytes] = {};
  for (std::size_t i = 0; i < rounds; ++i) {
    sample.add(timed([&] {
      send_all(pair.near.get(), bytes, kRequestBytes);
      receive_all(pair.near.get(), bytes, kReplyBytes);
    }));
  }
  peer.join();
  return sample.median();
}

double measure_raw(const Cores& cores, std::size_t size, std::size_t rounds, std::vector<char>& from, std::vector<char>& to) {
  const SocketPair pair = connect_over_loopback();
  std::thread peer([&] {
    cores.pin_to(1);
    Rotation destination(to, size);
    const char reply[kReplyBytes] = {};
    for (std::size_t i = 0; i < rounds; ++i) {
      receive_all(pair.far.get(), destination.next(), size);
      send_all(pair.far.get(), reply, kReplyBytes);
    }
  });
  cores.pin_to(0);
  Sample sample;
  Rotation source(from, size);
  char reply[kReplyBytes];
  for (std::size_t i = 0; i < rounds; ++i) {
    sample.add(timed([&] {
      send_all(pair.near.get(), source.next(), size);
      receive_all(pair.near.get(), reply, kReplyBytes);
    }));
  }
  peer.join();
  return static_cast<double>(size) / sample.median() / 1e3;
}

double measure_memcpy(std::size_t size, std::size_t rounds, std::vector<char>& from, std::vector<char>& to) {
  Sample sample;
  Rotation source(from, size);
  Rotation destination(to, size);
  for (std::size_t i = 0; i < rounds; ++i) {
    sample.add(timed([&] { std::memcpy(destination.next(), source.next(), size); }));
  }
  return static_cast<double>(size) / sample.median() / 1e3;
}
} // namespace

Limits measure_limits(bool quick) {
  const Cores cores;
  Limits limits;
  limits.two_cores = cores.two();
  limits.round_trip_us = measure_round_trip(cores, quick ? 3000 : 10000);
  std::vector<char> from(kRotateBytes, 1);
  std::vector<char> to(kRotateBytes, 2);
  const std::size_t volume = std::size_t{1} << (quick ? 28 : 30);
  for (std::size_t i = 0; i < kTransferSizes.size(); ++i) {
    const std::size_t size = kTransferSizes[i];
    const std::size_t rounds = std::clamp<std::size_t>(volume / size, quick ? 2 : 5, 2000);
    limits.raw_gbs[i] = measure_raw(cores, size, rounds, from, to);
    limits.memcpy_gbs[i] = measure_memcpy(size, rounds, from, to);
  }
  return limits;
}

} // namespace farcl::tools::bench
