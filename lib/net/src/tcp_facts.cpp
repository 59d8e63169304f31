#include "tcp_facts.hpp"

#include <cstddef>
#include <cstring>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string_view>

namespace farcl::net {

namespace {
std::string_view address_of(const sockaddr_storage& name) {
  if (name.ss_family == AF_INET6) {
    return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in6&>(name).sin6_addr), sizeof(in6_addr)};
  }
  return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in&>(name).sin_addr), sizeof(in_addr)};
}
} // namespace

std::optional<CongestionFacts> tcp_facts(int socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  constexpr std::size_t kNeeded = offsetof(tcp_info, tcpi_min_rtt) + sizeof info.tcpi_min_rtt;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || length < kNeeded) {
    return std::nullopt;
  }
  CongestionFacts facts;
  facts.round_trip = std::chrono::microseconds(info.tcpi_rtt);
  facts.least_round_trip = std::chrono::microseconds(info.tcpi_min_rtt);
  facts.delivered_bytes = info.tcpi_bytes_acked;
  facts.waiting_bytes = std::uint64_t{info.tcpi_unacked} * info.tcpi_snd_mss + info.tcpi_notsent_bytes;
  return facts;
}

bool crosses_network(int socket) {
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t length = sizeof own;
  socklen_t peer_length = sizeof peer;
  return ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) != 0 ||
         ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_length) != 0 || own.ss_family != peer.ss_family ||
         address_of(own) != address_of(peer);
}

void prefer_short_queues(int socket) {
  constexpr std::string_view kName = "bbr";
  static_cast<void>(::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, kName.data(), kName.size())); // refused: another one does
}

} // namespace farcl::net
