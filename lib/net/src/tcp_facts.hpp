// What Linux knows about a TCP connection. A file of its own: the kernel's header with all of tcp_info and the C library's exclude
// each other.
#pragma once

#include "farcl/net/transport.hpp"

#include <optional>

namespace farcl::net {

[[nodiscard]] std::optional<CongestionFacts> tcp_facts(int socket);
/// False when the connection ends on this machine: nothing on the way to measure.
[[nodiscard]] bool crosses_network(int socket);
/// BBR where the kernel lets us have it: it fills the queues on the way less than others, and bears loss better.
void prefer_short_queues(int socket);

} // namespace farcl::net
