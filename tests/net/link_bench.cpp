// Measures the link against raw sockets in the same run: ping-pong of small messages over loopback TCP with both ends
// spinning, and messages per second in one direction. Not a test: the figures are ratios for people.
//
//   link_bench [rounds]
#include "farcl/net/accept.hpp"
#include "farcl/net/link.hpp"
#include "farcl/protocol/message_list.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace {

using namespace farcl;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRawBytes = 80;
constexpr int kWarmUp = 2000;
constexpr int kBatch = 500;

std::pair<UniqueFd, UniqueFd> tcp_pair() {
  auto listener = net::listen_tcp({"127.0.0.1", 0});
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(*net::bound_port(listener->get()));
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror("connect");
    std::exit(1);
  }
  UniqueFd server(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int on = 1;
  for (const int fd : {client.get(), server.get()}) {
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return {std::move(client), std::move(server)};
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Microseconds of a round trip: the median over batches.
template <class Round>
double time_rounds(int rounds, Round&& round) {
  for (int i = 0; i < kWarmUp; ++i) {
    round();
  }
  std::vector<double> batches;
  for (int done = 0; done < rounds; done += kBatch) {
    const auto start = Clock::now();
    for (int i = 0; i < kBatch; ++i) {
      round();
    }
    batches.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / kBatch);
  }
  return median(std::move(batches));
}

void spin_receive(int fd, std::array<std::byte, kRawBytes>& buffer, const std::atomic<bool>& stop) {
  for (std::size_t have = 0; have < buffer.size() && !stop.load(std::memory_order_relaxed);) {
    const ssize_t got = ::recv(fd, buffer.data() + have, buffer.size() - have, MSG_DONTWAIT);
    have += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
}

double raw_round_trip(int rounds) {
  auto [client, server] = tcp_pair();
  std::atomic<bool> stop{false};
  std::thread echo([&, fd = server.get()] {
    std::array<std::byte, kRawBytes> buffer{};
    while (!stop) {
      spin_receive(fd, buffer, stop);
      ::send(fd, buffer.data(), buffer.size(), MSG_NOSIGNAL);
    }
  });
  std::array<std::byte, kRawBytes> buffer{};
  const double us = time_rounds(rounds, [&, fd = client.get()] {
    ::send(fd, buffer.data(), buffer.size(), MSG_NOSIGNAL);
    spin_receive(fd, buffer, stop);
  });
  stop = true;
  echo.join();
  return us;
}

/// One end of a link that counts what it gets.
class End final : public net::FrameSink {
public:
  explicit End(UniqueFd socket) : transport(std::move(*net::adopt_socket(std::move(socket)))), sender(receiver.received_sequence()) {}
  Status on_message(protocol::Opcode, ConstBytes) override {
    ++messages;
    return {};
  }
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader& chunk, std::size_t size) override {
    return MutableBytes(destination).subspan(chunk.offset % (destination.size() - size), size);
  }
  Status on_bulk(const protocol::BulkHeader&, std::size_t size) override {
    bulk_bytes += size;
    return {};
  }
  Status on_acknowledged(std::uint64_t sequence) override { return sender.on_acknowledged(sequence); }
  void on_ping(std::uint64_t) override {}
  void on_pong(std::uint64_t) override {}
  bool poll() { return receiver.poll(*transport, *this).has_value(); }
  bool flush() { return sender.flush(*transport).has_value(); }

  net::TransportPtr transport;
  net::FrameReceiver receiver;
  net::FrameSender sender;
  std::uint64_t messages = 0;
  std::uint64_t bulk_bytes = 0;
  ByteVector destination = ByteVector(64u << 20);
};

/// A message whose frame has about the size of a launch: 24 bytes of header and 56 of payload.
protocol::CreateSubBuffer small_message() {
  protocol::CreateSubBuffer message;
  message.size_bytes = 56;
  return message;
}

double link_round_trip(int rounds) {
  auto [client, server] = tcp_pair();
  End near(std::move(client));
  End far(std::move(server));
  std::atomic<bool> stop{false};
  std::thread echo([&] {
    std::uint64_t answered = 0;
    while (!stop && far.poll()) {
      for (; answered < far.messages; ++answered) {
        far.sender.append(small_message());
        far.flush();
      }
    }
  });
  std::uint64_t expected = 0;
  const double us = time_rounds(rounds, [&] {
    near.sender.append(small_message());
    near.flush();
    for (++expected; near.messages < expected && near.poll();) {
    }
  });
  stop = true;
  echo.join();
  return us;
}

/// Appends with `append` until `stop` says so, keeping at most 1 MiB unacknowledged or unsent bytes; the far end only receives.
template <class Append, class Amount>
double one_way_rate(std::size_t retain_bytes, std::chrono::milliseconds time, Append&& append, Amount&& amount) {
  auto [client, server] = tcp_pair();
  End near(std::move(client));
  End far(std::move(server));
  std::atomic<bool> stop{false};
  std::thread receiver([&] {
    while (!stop && far.poll()) {
      if (far.receiver.received_sequence().load() - far.sender.sent_acknowledgement() >= net::kAcknowledgeAfterFrames ||
          far.bulk_bytes != 0) {
        far.sender.append_acknowledgement();
        far.flush();
      }
    }
  });
  const auto start = Clock::now();
  while (Clock::now() - start < time) {
    while (near.sender.retained_bytes() < retain_bytes) {
      append(near.sender);
      if (near.sender.unsent_bytes() > (16u << 10)) {
        near.flush();
      }
    }
    near.flush();
    near.poll();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  stop = true;
  receiver.join();
  return amount(far) / seconds;
}

double raw_throughput(std::chrono::milliseconds time) {
  auto [client, server] = tcp_pair();
  std::atomic<bool> stop{false};
  std::uint64_t total = 0;
  std::thread receiver([&, fd = server.get()] {
    ByteVector buffer(64u << 20);
    for (std::size_t at = 0; !stop;) {
      const ssize_t got = ::recv(fd, buffer.data() + at, 256u << 10, MSG_DONTWAIT);
      total += got > 0 ? static_cast<std::uint64_t>(got) : 0;
      at = got > 0 ? (at + static_cast<std::size_t>(got)) % (buffer.size() - (256u << 10)) : at;
    }
  });
  const ByteVector data(64u << 20);
  const auto start = Clock::now();
  for (std::size_t at = 0; Clock::now() - start < time;) {
    const ssize_t sent =
        ::send(client.get(), data.data() + at, std::min<std::size_t>(1u << 20, data.size() - at), MSG_NOSIGNAL | MSG_DONTWAIT);
    at = sent > 0 ? (at + static_cast<std::size_t>(sent)) % data.size() : at;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  stop = true;
  receiver.join();
  return static_cast<double>(total) / seconds;
}

} // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(kBatch, std::atoi(argv[1])) : 50'000;
  const double raw = raw_round_trip(rounds);
  const double link = link_round_trip(rounds);
  std::printf("ping-pong of 80 bytes: raw %.2f us, link %.2f us, ratio %.2f\n", raw, link, link / raw);

  const auto time = std::chrono::milliseconds(500);
  const double rate = one_way_rate(
      1u << 20, time, [](net::FrameSender& sender) { sender.append(small_message()); },
      [](const End& far) { return static_cast<double>(far.messages); });
  std::printf("one way: %.2f million messages of 80 bytes per second\n", rate / 1e6);

  const ByteVector data(16u << 20);
  const double raw_bulk = raw_throughput(time);
  const double link_bulk = one_way_rate(
      32u << 20, time, [&](net::FrameSender& sender) { sender.append_bulk({1}, 0, data, nullptr); },
      [](const End& far) { return static_cast<double>(far.bulk_bytes); });
  std::printf("bulk: raw %.2f GB/s, link %.2f GB/s, ratio %.2f\n", raw_bulk / 1e9, link_bulk / 1e9, link_bulk / raw_bulk);
  return 0;
}
