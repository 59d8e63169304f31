// Transport over a TCP connection that is encrypted (TLS 1.3, see tls_session.hpp).
//
// Threads: as Transport promises, one thread may send while another receives. OpenSSL's object bears only one at a time, so each record
// is written or read under a small lock; nothing waits under it. Data is encrypted straight out of the sender's memory and
// decrypted into OpenSSL's buffer and from there into the receiver's memory; only pieces smaller than a record are collected first, so that
// a launch is one record and one write.
#pragma once

#include "socket_transport.hpp"
#include "tls_session.hpp"

#include "sleep.hpp"

#include <array>
#include <atomic>
#include <mutex>

namespace farcl::net {

class TlsTransport final : public SocketTransport {
public:
  /// New keys for what is sent are made after so many bytes: far below what AES-GCM allows with one.
  static constexpr std::uint64_t kBytesPerKey = std::uint64_t{64} << 30;

  TlsTransport(UniqueFd socket, const SocketFacts& facts, SslPtr ssl, std::uint64_t bytes_per_key = kBytesPerKey);
  [[nodiscard]] static Result<std::unique_ptr<TlsTransport>> make(TlsRole role, UniqueFd socket, const Secret* key,
                                                                  std::uint64_t bytes_per_key = kBytesPerKey);
  ~TlsTransport() override;

  /// A client's first message leaves; nothing is read, so that what is answered can be looked at.
  [[nodiscard]] Status begin_handshake();
  /// Until both ends have proved the key. Nothing else may be called before.
  [[nodiscard]] Status finish_handshake(Clock::time_point deadline);

  Result<std::size_t> send(std::span<const ConstBytes> parts) override;
  Result<std::size_t> receive(MutableBytes into) override;
  Interest wait(Interest interest, std::chrono::nanoseconds timeout, Waker* waker) override;
  void shutdown() noexcept override;

private:
  static constexpr std::size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH; ///< the most that a record holds

  class Parts;
  Status step_of_handshake();
  Result<std::size_t> send_record(Parts& parts);
  void renew_key_if_due();
  /// The failure of OpenSSL's last call on this thread; nothing when it only has to wait.
  [[nodiscard]] std::optional<Error> failure_of(int result) const;

  std::mutex mutex_; ///< of the next six
  SslPtr ssl_;
  SocketState socket_state_;
  std::size_t pending_bytes_ = 0; ///< of a record that is encrypted and not yet written whole
  std::uint64_t sent_bytes_ = 0;  ///< with the present key
  const std::uint64_t bytes_per_key_;
  std::array<std::byte, kRecordBytes> collected_; ///< small pieces on their way into one record; not initialised
  std::atomic<bool> may_have_more_{false};        ///< OpenSSL may hold bytes that the socket no longer shows
};

} // namespace farcl::net
