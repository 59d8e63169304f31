// LinkEmulator: a router in user space that joins two TUN devices by a link with delay, a rate with a bounded queue in front of it,
// loss, and "down".
//
// Threads: one of its own moves the packets and owns both directions; set() and the counters may be used by any thread.
#pragma once

#include "farcl/base/guarded.hpp"
#include "farcl/base/unique_fd.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <thread>
#include <vector>

namespace farcl::netns {

/// What both directions of a link are like.
struct LinkConditions {
  std::chrono::nanoseconds delay{0};  ///< one way
  double megabits_per_second = 0;     ///< 0: no limit
  std::size_t queue_bytes = 1u << 20; ///< waiting for the rate; what comes on top is dropped
  double loss = 0;                    ///< part of the packets that is lost
  bool down = false;                  ///< loses everything
};

class LinkEmulator {
public:
  LinkEmulator(UniqueFd first, UniqueFd second, const LinkConditions& conditions);
  ~LinkEmulator();
  LinkEmulator(const LinkEmulator&) = delete;
  LinkEmulator& operator=(const LinkEmulator&) = delete;

  /// From the next packet on.
  void set(const LinkConditions& conditions);
  /// Bytes that were delivered to the device that is given first (0) or second (1).
  [[nodiscard]] std::uint64_t delivered_bytes(std::size_t to) const { return delivered_[to].load(); }
  [[nodiscard]] std::uint64_t lost_packets() const { return lost_.load(); }

private:
  using Clock = std::chrono::steady_clock;
  struct Packet {
    Clock::time_point due;
    std::vector<std::byte> bytes;
  };
  /// What is on its way to one device.
  struct Direction {
    std::deque<Packet> packets;
    Clock::time_point rate_free_at{};
  };

  void main();
  void take_from(std::size_t end, const LinkConditions& conditions);
  void send_on(std::size_t to, const LinkConditions& conditions, const std::byte* bytes, std::size_t size);
  void deliver(std::size_t to);
  void sleep();

  std::array<UniqueFd, 2> devices_;
  UniqueFd stop_event_;
  Guarded<LinkConditions> conditions_;
  std::array<Direction, 2> directions_; ///< [i]: to device i
  std::mt19937 random_{20240229};
  std::array<std::atomic<std::uint64_t>, 2> delivered_{};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

} // namespace farcl::netns
