// Loopback transports: two in-memory pipes with faults, for tests.
//
// Threads: the state of both directions is behind one mutex; each end has a waker of its own that the other end notifies when
// something changed for it.
#include "farcl/net/loopback.hpp"

#include "farcl/base/guarded.hpp"
#include "farcl/protocol/frame.hpp"
#include "sleep.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>

namespace farcl::net {

namespace {

/// Follows the frames in a stream of bytes.
class FrameWatch {
public:
  void skip(std::uint64_t greeting_bytes) { skip_ = greeting_bytes; }
  [[nodiscard]] std::uint64_t last_sequence() const noexcept { return last_; }
  /// Takes bytes as far as the end of the frame numbered `until` (0: all of them); returns how many.
  std::size_t take(ConstBytes bytes, std::uint64_t until) {
    std::size_t taken = 0;
    while (taken < bytes.size() && (until == 0 || last_ < until)) {
      taken += step(bytes.subspan(taken));
    }
    return taken;
  }

private:
  std::size_t step(ConstBytes bytes) {
    if (skip_ != 0) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), skip_));
      skip_ -= size;
      return size;
    }
    const std::size_t size = std::min(bytes.size(), have_ < header_.size() ? header_.size() - have_ : payload_left_);
    if (have_ < header_.size()) {
      std::copy_n(bytes.begin(), size, header_.begin() + static_cast<std::ptrdiff_t>(have_));
      have_ += size;
      if (have_ == header_.size()) {
        const auto header = protocol::load_frame_header(header_);
        FARCL_ASSERT(header.has_value());
        payload_left_ = header->payload_bytes;
        sequence_ = header->sequence;
      }
    } else {
      payload_left_ -= size;
    }
    if (have_ == header_.size() && payload_left_ == 0) {
      have_ = 0;
      last_ = std::max(last_, sequence_);
    }
    return size;
  }

  std::array<std::byte, protocol::kFrameHeaderBytes> header_{};
  std::size_t have_ = 0; ///< bytes of the header
  std::size_t payload_left_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t skip_ = 0;
};

struct Direction {
  LoopbackFaults faults;
  FrameWatch frames;
  std::deque<std::byte> bytes;                                 ///< sent and not received
  std::deque<std::pair<Clock::time_point, std::size_t>> waves; ///< when how many of them arrive (only with a delay)
  std::uint64_t sent = 0;
  bool closed = false; ///< by the sending end
};

struct Shared {
  std::array<Direction, 2> directions; ///< [i]: what end i sends
  bool cut = false;
};

struct Wire {
  Guarded<Shared> shared;
  std::array<Waker, 2> wakers; ///< of the ends
};

std::size_t limited(std::size_t size, std::size_t limit) { return limit == 0 ? size : std::min(size, limit); }

class LoopbackTransport final : public Transport {
public:
  LoopbackTransport(std::shared_ptr<Wire> wire, std::size_t end) : wire_(std::move(wire)), end_(end) {}
  ~LoopbackTransport() override { shutdown(); }

  Result<std::size_t> send(std::span<const ConstBytes> parts) override {
    std::size_t sent = 0;
    {
      auto shared = wire_->shared.lock();
      Direction& out = shared->directions[end_];
      count(out, &LoopbackCounters::sends);
      if (shared->cut || out.closed || shared->directions[1 - end_].closed) {
        return fail(ErrorCode::kDisconnected, "the loopback connection broke");
      }
      std::size_t room =
          limited(out.faults.capacity_bytes - std::min(out.faults.capacity_bytes, out.bytes.size()), out.faults.max_bytes_per_call);
      if (out.faults.cut_after_bytes != 0) {
        room = static_cast<std::size_t>(std::min<std::uint64_t>(room, out.faults.cut_after_bytes - out.sent));
      }
      for (const ConstBytes part : parts.first(std::min(parts.size(), kMaxSendParts))) {
        const ConstBytes wanted = part.first(std::min(part.size(), room - sent));
        const ConstBytes piece = out.faults.follow_frames ? wanted.first(out.frames.take(wanted, out.faults.cut_after_sequence)) : wanted;
        out.bytes.insert(out.bytes.end(), piece.begin(), piece.end());
        sent += piece.size();
        if (piece.size() < part.size()) {
          break;
        }
      }
      if (sent != 0 && out.faults.delay.count() != 0) {
        out.waves.emplace_back(Clock::now() + out.faults.delay, sent);
      }
      out.sent += sent;
      if (out.faults.counters) {
        out.faults.counters->bytes += sent;
        out.faults.counters->last_sequence = out.frames.last_sequence();
      }
      shared->cut = shared->cut || (out.faults.cut_after_bytes != 0 && out.sent == out.faults.cut_after_bytes) ||
                    (out.faults.cut_after_sequence != 0 && out.frames.last_sequence() >= out.faults.cut_after_sequence);
    }
    wake_both();
    return sent;
  }

  Result<std::size_t> receive(MutableBytes into) override {
    std::size_t received = 0;
    {
      auto shared = wire_->shared.lock();
      Direction& in = shared->directions[1 - end_];
      count(in, &LoopbackCounters::receives);
      received = std::min(limited(into.size(), in.faults.max_bytes_per_call), arrived(in));
      if (received == 0) {
        if (shared->directions[end_].closed || (shared->cut && in.bytes.empty())) {
          return fail(ErrorCode::kDisconnected, "the loopback connection broke");
        }
        if (in.closed && in.bytes.empty()) {
          return fail(ErrorCode::kClosed, "the other end closed the loopback connection");
        }
        return 0;
      }
      take(in, into.first(received));
    }
    wire_->wakers[1 - end_].notify();
    return received;
  }

  Interest wait(Interest interest, std::chrono::nanoseconds timeout, Waker* waker) override {
    const auto deadline = deadline_after(timeout);
    count_wait();
    for (;;) {
      (void)wire_->wakers[end_].consume();
      Clock::time_point next_arrival = Clock::time_point::max();
      const Interest ready = ready_for(interest, next_arrival);
      const bool notified = waker != nullptr && waker->consume();
      const auto left = time_left(std::min(deadline, next_arrival));
      if (ready != Interest::kNone || notified || time_left(deadline).count() == 0) {
        return ready;
      }
      sleep_on_both(left, waker);
    }
  }

  [[nodiscard]] std::optional<CongestionFacts> congestion() const override {
    auto shared = wire_->shared.lock();
    const Direction& out = shared->directions[end_];
    if (out.faults.claimed_round_trip.count() == 0) {
      return std::nullopt;
    }
    return CongestionFacts{out.faults.claimed_round_trip, out.faults.claimed_round_trip, out.sent - out.bytes.size(), out.bytes.size()};
  }

  void shutdown() noexcept override {
    wire_->shared.with([this](Shared& shared) { shared.directions[end_].closed = true; });
    wake_both();
  }

  [[nodiscard]] std::string description() const override { return "loopback"; }

private:
  void wake_both() noexcept {
    wire_->wakers[0].notify();
    wire_->wakers[1].notify();
  }
  static void count(const Direction& direction, std::atomic<std::uint64_t> LoopbackCounters::* counter) {
    if (direction.faults.counters) {
      ++(direction.faults.counters.get()->*counter);
    }
  }
  void count_wait() {
    wire_->shared.with([this](Shared& shared) { count(shared.directions[1 - end_], &LoopbackCounters::waits); });
  }
  static std::size_t arrived(const Direction& in) {
    if (in.faults.delay.count() == 0) {
      return in.bytes.size();
    }
    std::size_t there = 0;
    for (const auto now = Clock::now(); const auto& [due, size] : in.waves) {
      if (due > now) {
        break;
      }
      there += size;
    }
    return there;
  }
  static void take(Direction& in, MutableBytes into) {
    const auto last = in.bytes.begin() + static_cast<std::ptrdiff_t>(into.size());
    std::copy(in.bytes.begin(), last, into.begin());
    in.bytes.erase(in.bytes.begin(), last);
    for (std::size_t left = into.size(); left != 0 && !in.waves.empty();) {
      const std::size_t step = std::min(left, in.waves.front().second);
      in.waves.front().second -= step;
      left -= step;
      if (in.waves.front().second == 0) {
        in.waves.pop_front();
      }
    }
  }
  Interest ready_for(Interest interest, Clock::time_point& next_arrival) {
    auto shared = wire_->shared.lock();
    const Direction& in = shared->directions[1 - end_];
    const Direction& out = shared->directions[end_];
    const std::size_t there = arrived(in);
    const bool over = out.closed || ((shared->cut || in.closed) && in.bytes.empty());
    if (there < in.bytes.size() && there == 0) {
      next_arrival = in.waves.front().first;
    }
    Interest ready = Interest::kNone;
    if (over || (has(interest, Interest::kReadable) && there != 0)) {
      ready = ready | Interest::kReadable;
    }
    if (has(interest, Interest::kWritable) && !over && out.bytes.size() < out.faults.capacity_bytes) {
      ready = ready | Interest::kWritable;
    }
    return ready;
  }
  /// Until the other end did something, the owner's waker was notified, or the time is over.
  void sleep_on_both(std::chrono::nanoseconds timeout, Waker* waker) {
    Waker& own = wire_->wakers[end_];
    if (own.arm()) {
      pollfd one{own.descriptor(), POLLIN, 0};
      sleep_on(std::span(&one, 1), timeout, waker);
      own.disarm();
      if (one.revents != 0 && !own.is_notified()) {
        own.forget_stale();
      }
    }
  }

  std::shared_ptr<Wire> wire_;
  std::size_t end_;
};

} // namespace

std::pair<TransportPtr, TransportPtr> make_loopback(const LoopbackFaults& faults, const LoopbackFaults& reverse) {
  auto wire = std::make_shared<Wire>();
  wire->shared.with([&](Shared& shared) {
    shared.directions[0].faults = faults;
    shared.directions[1].faults = reverse;
    for (Direction& direction : shared.directions) {
      direction.frames.skip(direction.faults.greeting_bytes);
    }
  });
  return {std::make_unique<LoopbackTransport>(wire, 0), std::make_unique<LoopbackTransport>(wire, 1)};
}

} // namespace farcl::net
