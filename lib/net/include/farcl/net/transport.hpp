// Transport: one connected, ordered byte stream. The seam between the link and the network.
//
// A transport moves bytes into and out of spans; it never exposes a descriptor, so that encryption, shared memory and RDMA can
// stand behind it. Implementations: tcp, unix, shared memory beside a Unix socket, stdio (a pair of pipes, for ssh), loopback
// (tests; in memory, with faults).
//
// Threads: one thread may call send while another calls receive or wait; two threads may not call send, or receive, at once. Several
// may wait; each hears of what happens.
// shutdown may be called from any thread at any time; everything else then fails soon.
#pragma once

#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"
#include "farcl/net/waker.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace farcl::net {

enum class Interest : unsigned { kNone = 0, kReadable = 1, kWritable = 2 };
constexpr Interest operator|(Interest a, Interest b) { return static_cast<Interest>(static_cast<unsigned>(a) | static_cast<unsigned>(b)); }
constexpr bool has(Interest set, Interest one) { return (static_cast<unsigned>(set) & static_cast<unsigned>(one)) != 0; }

/// What the network knows about the way to the peer.
struct CongestionFacts {
  std::chrono::microseconds round_trip{0};       ///< smoothed, of now
  std::chrono::microseconds least_round_trip{0}; ///< of the last minutes
  std::uint64_t delivered_bytes = 0;             ///< have arrived, since the connection was made
  std::uint64_t waiting_bytes = 0;               ///< taken by send and not known to have arrived
};

class Transport {
public:
  virtual ~Transport() = default;

  /// Writes as much of `parts` (in order) as goes without waiting. Returns the bytes written, 0 when none fits now.
  /// Fails with kDisconnected when the connection is gone. At most kMaxSendParts parts are looked at.
  virtual Result<std::size_t> send(std::span<const ConstBytes> parts) = 0;
  static constexpr std::size_t kMaxSendParts = 64;

  /// Reads what is there into `into` (not empty), without waiting. Returns the bytes read, 0 when none are there now.
  /// Fails with kClosed when the peer has closed in an orderly way, kDisconnected when the connection broke.
  virtual Result<std::size_t> receive(MutableBytes into) = 0;

  /// Sleeps until the transport is ready for `interest`, or has failed, or `waker` (may be null) has been notified, or
  /// `timeout` is over. Returns what it is ready for (a failed transport counts as readable); kNone for the other reasons.
  /// Consumes the waker's notification.
  virtual Interest wait(Interest interest, std::chrono::nanoseconds timeout, Waker* waker) = 0;

  /// Nothing where bytes do not cross a network, or nobody counts them. The thread that sends.
  [[nodiscard]] virtual std::optional<CongestionFacts> congestion() const { return std::nullopt; }

  /// Ends the connection in both directions; the peer sees an end of stream.
  virtual void shutdown() noexcept = 0;

  /// True when receive costs no system call while nothing has come: a spinning thread then looks all the time.
  [[nodiscard]] virtual bool looks_are_free() const noexcept { return false; }

  /// For people: "tcp 127.0.0.1:32725", "unix /run/farcl.sock".
  [[nodiscard]] virtual std::string description() const = 0;
};

using TransportPtr = std::unique_ptr<Transport>;

} // namespace farcl::net
