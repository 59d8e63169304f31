#include "ring_transport.hpp"

#include "farcl/net/accept.hpp"
#include "farcl/protocol/hello.hpp"
#include "sleep.hpp"
#include "socket_transport.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>

namespace farcl::net {

namespace {
/// Looks at an empty ring, of which one looks at the socket too: a thread that only spins must notice that the other end has died.
constexpr unsigned kLooksPerSocketLook = 256;
/// A peer that floods the doorbell is not listened to for ever.
constexpr int kMostDrains = 16;
/// Before sleeping on a full ring: the other end empties half of one in about 50 µs, and waking up takes as long.
constexpr auto kFullRingSpin = std::chrono::microseconds(60);

RingControl& control_of(const SharedRegion& region, std::size_t number) { return reinterpret_cast<RingControl*>(region.data())[number]; }
std::byte* bytes_of(const SharedRegion& region, std::size_t number) { return region.data() + kRingControlsBytes + number * kRingBytes; }
} // namespace

RingTransport::RingTransport(End end, UniqueFd socket, SharedRegion region, std::size_t greeting_bytes, std::vector<UniqueFd> passed_fds,
                             std::string description)
    : socket_(std::move(socket)), region_(std::move(region)),
      out_(control_of(region_, end == End::kClient ? 0 : 1), bytes_of(region_, end == End::kClient ? 0 : 1)),
      in_(control_of(region_, end == End::kClient ? 1 : 0), bytes_of(region_, end == End::kClient ? 1 : 0)), greeting_left_(greeting_bytes),
      passed_fds_(std::move(passed_fds)), description_(std::move(description)) {}

tl::unexpected<Error> RingTransport::gone() const { return fail(ErrorCode::kDisconnected, "the connection " + description_ + " broke"); }

Result<std::size_t> RingTransport::send_greeting(ConstBytes part) {
  std::vector<int> fds;
  for (const UniqueFd& one : passed_fds_) {
    fds.push_back(one.get());
  }
  const ConstBytes bytes = part.first(std::min(part.size(), greeting_left_));
  if (auto status = send_with_fds(socket_.get(), bytes, fds); !status) {
    return pass_on(std::move(status));
  }
  passed_fds_.clear();
  greeting_left_ -= bytes.size();
  return bytes.size();
}

Result<std::size_t> RingTransport::send(std::span<const ConstBytes> parts) {
  if (gone_.load(std::memory_order_acquire)) {
    return gone();
  }
  if (greeting_left_ != 0 && !parts.empty()) {
    return send_greeting(parts.front());
  }
  auto sent = out_.write(parts);
  if (sent && *sent != 0 && out_.take_reader_asleep()) {
    ring_doorbell();
  }
  return sent;
}

void RingTransport::ring_doorbell() noexcept {
  const char one = 0;
  // A full socket holds doorbells that have not been heard yet: as good as this one.
  if (::send(socket_.get(), &one, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN && errno != EINTR) {
    socket_has_news_.store(true, std::memory_order_relaxed); // the next look at the empty ring finds out
  }
}

Result<std::size_t> RingTransport::receive(MutableBytes into) {
  auto got = in_.read(into);
  if (!got) {
    return got;
  }
  if (*got == 0) {
    return look_at_socket(into);
  }
  empty_looks_ = 0;
  if (in_.take_writer_asleep()) {
    ring_doorbell();
  }
  return got;
}

Result<std::size_t> RingTransport::look_at_socket(MutableBytes into) {
  if (++empty_looks_ % kLooksPerSocketLook != 0 && !socket_has_news_.load(std::memory_order_relaxed) &&
      !gone_.load(std::memory_order_relaxed)) {
    return 0;
  }
  socket_has_news_.store(false, std::memory_order_relaxed);
  int error_number = 0;
  if (drain_socket(error_number)) {
    return 0;
  }
  gone_.store(true, std::memory_order_release);
  auto last_words = in_.read(into); // written before the socket was closed
  if (!last_words || *last_words != 0) {
    return last_words;
  }
  return error_number == 0 ? fail(ErrorCode::kClosed, "the other end closed the connection " + description_)
                           : connection_error(error_number, description_);
}

bool RingTransport::drain_socket(int& error_number) noexcept {
  std::array<char, 64> bytes; // not initialised, never looked at
  for (int drains = 0; drains < kMostDrains; ++drains) {
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == static_cast<ssize_t>(bytes.size()) || (got < 0 && errno == EINTR)) {
      continue;
    }
    error_number = got < 0 ? errno : 0;
    return got > 0 || (got < 0 && error_number == EAGAIN);
  }
  return true;
}

// A position that makes no sense counts as ready: send or receive will say so.
Interest RingTransport::ready(Interest interest) const noexcept {
  Interest found = Interest::kNone;
  if (has(interest, Interest::kReadable)) {
    const auto there = in_.available_bytes();
    found = !there || *there != 0 ? found | Interest::kReadable : found;
  }
  if (has(interest, Interest::kWritable)) {
    const auto room = out_.free_bytes();
    found = !room || *room != 0 ? found | Interest::kWritable : found;
  }
  return found;
}

bool RingTransport::spin(Interest interest, const Waker* waker) const noexcept {
  for (const auto end = Clock::now() + kFullRingSpin; Clock::now() < end;) {
    if (ready(interest) != Interest::kNone || (waker != nullptr && waker->is_notified())) {
      return true;
    }
  }
  return false;
}

// Several threads may sleep here. A flag stays set while anybody sleeps for its reason, so that a doorbell is rung for whoever is left.
void RingTransport::fall_asleep(Interest interest) noexcept {
  const std::lock_guard<std::mutex> held(sleepers_mutex_);
  if (has(interest, Interest::kReadable)) {
    ++sleeping_readers_;
    in_.set_asleep(true);
  }
  if (has(interest, Interest::kWritable)) {
    ++sleeping_writers_;
    out_.set_asleep(true);
  }
}

void RingTransport::wake_up(Interest interest) noexcept {
  const std::lock_guard<std::mutex> held(sleepers_mutex_);
  if (has(interest, Interest::kReadable)) {
    in_.set_asleep(--sleeping_readers_ != 0);
  }
  if (has(interest, Interest::kWritable)) {
    out_.set_asleep(--sleeping_writers_ != 0);
  }
}

Interest RingTransport::wait(Interest interest, std::chrono::nanoseconds timeout, Waker* waker) {
  Interest found = ready(interest);
  if (found == Interest::kNone && has(interest, Interest::kWritable) && timeout > kFullRingSpin && spin(interest, waker)) {
    found = ready(interest);
  }
  const auto deadline = deadline_after(timeout);
  while (found == Interest::kNone) {
    fall_asleep(interest);
    found = ready(interest); // again, now that the other end would ring
    pollfd one{socket_.get(), POLLIN | POLLRDHUP, 0};
    if (found == Interest::kNone) {
      sleep_on(std::span(&one, 1), time_left(deadline), waker);
      found = ready(interest);
    }
    wake_up(interest);
    if ((one.revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL)) != 0) {
      socket_has_news_.store(true, std::memory_order_relaxed);
      found = found | Interest::kReadable;
    } else if ((one.revents & POLLIN) != 0) {
      // Left to receive() when there is something to receive: other sleepers must see it until the ring is empty.
      int error_number = 0;
      socket_has_news_.store(true, std::memory_order_relaxed);
      if (found == Interest::kNone && !drain_socket(error_number)) {
        found = Interest::kReadable;
      }
    }
    if (time_left(deadline).count() == 0 || (waker != nullptr && waker->is_notified())) {
      break;
    }
  }
  if (waker != nullptr) {
    (void)waker->consume();
  }
  return found;
}

void RingTransport::shutdown() noexcept {
  gone_.store(true, std::memory_order_release);
  socket_has_news_.store(true, std::memory_order_relaxed);
  ::shutdown(socket_.get(), SHUT_RDWR);
}

Result<TransportPtr> adopt_socket_with_rings(UniqueFd& socket, int buffers) {
  auto description = describe_socket(socket.get());
  if (!description) {
    return pass_on(std::move(description));
  }
  auto region = SharedRegion::create("farcl-rings", kRingRegionBytes);
  if (!region) {
    return pass_on(std::move(region));
  }
  std::vector<UniqueFd> passed;
  for (const int fd : {region->fd(), buffers}) {
    if (fd >= 0 && !passed.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0))) {
      return fail_errno(errno, "shared memory cannot be passed");
    }
  }
  return std::make_unique<RingTransport>(RingTransport::End::kServer, std::move(socket), std::move(*region), protocol::kHelloReplyBytes,
                                         std::move(passed), *description + " with shared memory");
}

Result<TransportPtr> open_rings(UniqueFd socket, UniqueFd memory) {
  auto description = describe_socket(socket.get());
  if (!description) {
    return pass_on(std::move(description));
  }
  auto region = SharedRegion::open(std::move(memory), kRingRegionBytes, kRingRegionBytes);
  if (!region) {
    return pass_on(std::move(region));
  }
  region->keep_from_children();
  return std::make_unique<RingTransport>(RingTransport::End::kClient, std::move(socket), std::move(*region), 0, std::vector<UniqueFd>(),
                                         *description + " with shared memory");
}

} // namespace farcl::net
