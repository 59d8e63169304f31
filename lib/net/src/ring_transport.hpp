// Transport through two rings in shared memory, between processes of one machine, beside the Unix socket that connected them.
//
// The socket carries the hello and its reply, with which the server passes the memory. From then on it is a doorbell (one byte, written
// only when the other end has said in shared memory that it sleeps) and the proof of death (it ends when the other process does).
// The server makes new memory for each connection, so nothing of a cut one can be seen in the next.
#pragma once

#include "byte_ring.hpp"
#include "farcl/base/shared_region.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/net/transport.hpp"

#include <mutex>
#include <vector>

namespace farcl::net {

/// Two controls, then the two rings: the client's to the server, the server's to the client.
inline constexpr std::size_t kRingControlsBytes = 4096;
inline constexpr std::size_t kRingRegionBytes = kRingControlsBytes + 2 * kRingBytes;
static_assert(2 * sizeof(RingControl) <= kRingControlsBytes);

class RingTransport final : public Transport {
public:
  enum class End { kClient, kServer };
  /// The first `greeting_bytes` that are sent go through the socket, `passed_fds` with them.
  RingTransport(End end, UniqueFd socket, SharedRegion region, std::size_t greeting_bytes, std::vector<UniqueFd> passed_fds,
                std::string description);

  Result<std::size_t> send(std::span<const ConstBytes> parts) override;
  Result<std::size_t> receive(MutableBytes into) override;
  Interest wait(Interest interest, std::chrono::nanoseconds timeout, Waker* waker) override;
  void shutdown() noexcept override;
  [[nodiscard]] bool looks_are_free() const noexcept override { return true; }
  [[nodiscard]] std::string description() const override { return description_; }

private:
  Result<std::size_t> send_greeting(ConstBytes part);
  void ring_doorbell() noexcept;
  Result<std::size_t> look_at_socket(MutableBytes into);
  /// Empties the socket of what the doorbell has left; false when the connection has ended, `error_number` then says how.
  bool drain_socket(int& error_number) noexcept;
  [[nodiscard]] Interest ready(Interest interest) const noexcept;
  [[nodiscard]] bool spin(Interest interest, const Waker* waker) const noexcept;
  void fall_asleep(Interest interest) noexcept;
  void wake_up(Interest interest) noexcept;
  [[nodiscard]] tl::unexpected<Error> gone() const;

  UniqueFd socket_;
  SharedRegion region_;
  RingWriter out_;
  RingReader in_;
  std::size_t greeting_left_;
  std::vector<UniqueFd> passed_fds_;
  const std::string description_;
  unsigned empty_looks_ = 0;
  std::atomic<bool> socket_has_news_{false};
  std::atomic<bool> gone_{false}; ///< this end was shut down, or the other one has gone
  std::mutex sleepers_mutex_;
  unsigned sleeping_readers_ = 0;
  unsigned sleeping_writers_ = 0;
};

/// The client's end, when descriptors have come with the reply to its hello.
[[nodiscard]] Result<TransportPtr> open_rings(UniqueFd socket, UniqueFd memory);

} // namespace farcl::net
