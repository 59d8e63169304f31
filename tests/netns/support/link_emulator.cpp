#include "link_emulator.hpp"

#include <algorithm>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace farcl::netns {

namespace {
constexpr std::size_t kMaxPacketBytes = 65536;
constexpr int kIpVersion = 4;
constexpr int kPacketsPerTurn = 64; ///< of one device, then the other has its turn
constexpr auto kLongestSleep = std::chrono::milliseconds(100);

std::chrono::nanoseconds time_on_wire(std::size_t size, double megabits_per_second) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(size) * 8000.0 / megabits_per_second));
}
} // namespace

LinkEmulator::LinkEmulator(UniqueFd first, UniqueFd second, const LinkConditions& conditions)
    : devices_{std::move(first), std::move(second)}, stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  set(conditions);
  thread_ = std::thread([this] { main(); });
}

LinkEmulator::~LinkEmulator() {
  stop_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_event_.get(), &one, sizeof one);
  thread_.join();
}

void LinkEmulator::set(const LinkConditions& conditions) {
  conditions_.with([&](LinkConditions& current) { current = conditions; });
}

void LinkEmulator::main() {
  ::prctl(PR_SET_TIMERSLACK, 1000UL); // delays are of microseconds
  const sched_param priority{.sched_priority = 1};
  ::pthread_setschedparam(::pthread_self(), SCHED_RR, &priority); // a link does not wait for a core; refused, it is a little jittery
  while (!stop_) {
    const LinkConditions conditions = conditions_.with([](LinkConditions& current) { return current; });
    for (std::size_t end : {0u, 1u}) {
      take_from(end, conditions);
    }
    for (std::size_t end : {0u, 1u}) {
      deliver(end);
    }
    sleep();
  }
}

void LinkEmulator::take_from(std::size_t end, const LinkConditions& conditions) {
  std::array<std::byte, kMaxPacketBytes> buffer;
  for (int i = 0; i < kPacketsPerTurn; ++i) {
    const ssize_t size = ::read(devices_[end].get(), buffer.data(), buffer.size());
    if (size <= 0) {
      return;
    }
    if (std::to_integer<int>(buffer[0] >> 4) == kIpVersion) { // the kernel tries IPv6 by itself
      send_on(1 - end, conditions, buffer.data(), static_cast<std::size_t>(size));
    }
  }
}

void LinkEmulator::send_on(std::size_t to, const LinkConditions& conditions, const std::byte* bytes, std::size_t size) {
  Direction& direction = directions_[to];
  const auto now = Clock::now();
  auto leaves = now;
  bool lost = conditions.down || std::bernoulli_distribution(conditions.loss)(random_);
  if (!lost && conditions.megabits_per_second > 0) {
    const auto begins = std::max(now, direction.rate_free_at);
    lost = begins - now > time_on_wire(conditions.queue_bytes, conditions.megabits_per_second);
    if (!lost) {
      leaves = direction.rate_free_at = begins + time_on_wire(size, conditions.megabits_per_second);
    }
  }
  if (lost) {
    ++lost_;
  } else {
    direction.packets.push_back({leaves + conditions.delay, {bytes, bytes + size}});
  }
}

void LinkEmulator::deliver(std::size_t to) {
  Direction& direction = directions_[to];
  for (const auto now = Clock::now(); !direction.packets.empty() && direction.packets.front().due <= now;) {
    const std::vector<std::byte>& bytes = direction.packets.front().bytes;
    if (::write(devices_[to].get(), bytes.data(), bytes.size()) > 0) {
      delivered_[to] += bytes.size();
    }
    direction.packets.pop_front();
  }
}

void LinkEmulator::sleep() {
  auto until = Clock::now() + kLongestSleep;
  for (const Direction& direction : directions_) {
    if (!direction.packets.empty()) {
      until = std::min<Clock::time_point>(until, direction.packets.front().due);
    }
  }
  const auto left = std::max<std::int64_t>(0, std::chrono::nanoseconds(until - Clock::now()).count());
  const timespec time{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  std::array<pollfd, 3> all{pollfd{devices_[0].get(), POLLIN, 0}, {devices_[1].get(), POLLIN, 0}, {stop_event_.get(), POLLIN, 0}};
  ::ppoll(all.data(), all.size(), &time, nullptr);
}

} // namespace farcl::netns
