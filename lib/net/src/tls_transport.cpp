#include "tls_transport.hpp"

#include "crypto.hpp"
#include "farcl/net/accept.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <openssl/err.h>

namespace farcl::net {

namespace {
/// SSL_get_error looks at this thread's list, where somebody else's errors may stand. Clearing an empty one takes longer than a look.
void forget_old_errors() noexcept {
  if (ERR_peek_error() != 0) {
    ERR_clear_error();
  }
}
} // namespace

/// What send() was given, as a stream.
class TlsTransport::Parts {
public:
  explicit Parts(std::span<const ConstBytes> parts) : parts_(parts.first(std::min(parts.size(), kMaxSendParts))) { skip_empty(); }

  [[nodiscard]] bool empty() const noexcept { return parts_.empty(); }
  /// The next record's bytes: a piece of the caller's memory if it fills one, else what comes next, collected in `room`.
  [[nodiscard]] ConstBytes next_record(std::span<std::byte, kRecordBytes> room) const {
    if (parts_.front().size() - offset_ >= kRecordBytes || parts_.size() == 1) {
      const ConstBytes piece = parts_.front().subspan(offset_);
      return piece.first(std::min(piece.size(), kRecordBytes));
    }
    std::size_t filled = 0;
    std::size_t offset = offset_;
    for (std::size_t i = 0; i < parts_.size() && filled < kRecordBytes; ++i, offset = 0) {
      const ConstBytes piece = parts_[i].subspan(offset);
      const std::size_t size = std::min(piece.size(), kRecordBytes - filled);
      std::memcpy(room.data() + filled, piece.data(), size);
      filled += size;
    }
    return room.first(filled);
  }
  [[nodiscard]] bool has_more_than(std::size_t bytes) const {
    std::size_t total = 0;
    for (std::size_t i = 0; i < parts_.size() && total <= bytes + offset_; ++i) {
      total += parts_[i].size();
    }
    return total > bytes + offset_;
  }
  void advance(std::size_t bytes) {
    while (bytes != 0) {
      FARCL_ASSERT(!parts_.empty()); // a sender whose bytes were not taken comes again with the same ones
      const std::size_t step = std::min(bytes, parts_.front().size() - offset_);
      offset_ += step;
      bytes -= step;
      skip_empty();
    }
  }

private:
  void skip_empty() noexcept {
    while (!parts_.empty() && offset_ == parts_.front().size()) {
      parts_ = parts_.subspan(1);
      offset_ = 0;
    }
  }
  std::span<const ConstBytes> parts_;
  std::size_t offset_ = 0;
};

TlsTransport::TlsTransport(UniqueFd socket, const SocketFacts& facts, SslPtr ssl, std::uint64_t bytes_per_key)
    : SocketTransport(std::move(socket), facts.description + ", encrypted", facts.crosses_network), ssl_(std::move(ssl)),
      bytes_per_key_(bytes_per_key) {}

// No farewell: a forked child destroys its copy, and the connection is still its parent's.
TlsTransport::~TlsTransport() = default;

Result<std::unique_ptr<TlsTransport>> TlsTransport::make(TlsRole role, UniqueFd socket, const Secret* key, std::uint64_t bytes_per_key) {
  auto facts = prepare_socket(socket.get());
  if (!facts) {
    return pass_on(std::move(facts));
  }
  auto ssl = make_tls_session(role, key);
  if (!ssl) {
    return pass_on(std::move(ssl));
  }
  const int fd = socket.get();
  auto transport = std::make_unique<TlsTransport>(std::move(socket), *facts, std::move(*ssl), bytes_per_key);
  if (!attach_socket(transport->ssl_.get(), fd, transport->socket_state_)) {
    return fail(ErrorCode::kOutOfMemory, "no encryption: " + openssl_reason());
  }
  return transport;
}

std::optional<Error> TlsTransport::failure_of(int result) const {
  const int error_number = errno;
  const auto error = [&](ErrorCode code, const std::string& message) { return Error{code, 0, message}; };
  switch (SSL_get_error(ssl_.get(), result)) {
  case SSL_ERROR_WANT_READ:
  case SSL_ERROR_WANT_WRITE: return std::nullopt;
  case SSL_ERROR_ZERO_RETURN: return error(ErrorCode::kClosed, "the other end closed the connection " + description());
  case SSL_ERROR_SYSCALL: return connection_error(error_number, description()).value();
  default: break;
  }
  // An end without a farewell may be somebody else's work, as with TCP alone: it proves nothing, and the link is repaired.
  if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    ERR_clear_error();
    return error(ErrorCode::kClosed, "the other end closed the connection " + description());
  }
  return error(ErrorCode::kDisconnected, "the connection " + description() + " broke: " + openssl_reason());
}

Status TlsTransport::begin_handshake() {
  const std::lock_guard<std::mutex> held(mutex_);
  socket_state_.closed_for_reading = true;
  auto status = step_of_handshake();
  socket_state_.closed_for_reading = false;
  return status;
}

Status TlsTransport::step_of_handshake() {
  forget_old_errors();
  const int done = SSL_do_handshake(ssl_.get());
  const auto failure = done == 1 ? std::nullopt : failure_of(done);
  return failure ? Status(tl::unexpected<Error>(*failure)) : Status{};
}

Status TlsTransport::finish_handshake(Clock::time_point deadline) {
  for (;;) {
    const std::lock_guard<std::mutex> held(mutex_);
    if (auto status = step_of_handshake(); !status) {
      return status;
    }
    if (SSL_is_init_finished(ssl_.get()) != 0) {
      SSL_set_app_data(ssl_.get(), nullptr); // the key may go
      note_kernel_tls(ssl_.get(), socket_state_);
      may_have_more_ = SSL_has_pending(ssl_.get()) == 1;
      return was_keyed(ssl_.get()) ? Status{} : Status(fail(ErrorCode::kRefused, "the other end did not prove that it has the key"));
    }
    if (time_left(deadline).count() == 0) {
      return fail(ErrorCode::kTimeout, "the encryption was not agreed on in time");
    }
    const Interest interest = SSL_want_write(ssl_.get()) ? Interest::kWritable : Interest::kReadable;
    (void)SocketTransport::wait(interest, time_left(deadline), nullptr);
  }
}

/// One record; 0: the socket takes no more now.
Result<std::size_t> TlsTransport::send_record(Parts& parts) {
  const std::lock_guard<std::mutex> held(mutex_);
  // The rest of a record that is encrypted already: only its size matters, its bytes are not looked at again.
  const ConstBytes record = pending_bytes_ != 0 ? ConstBytes(collected_).first(pending_bytes_) : parts.next_record(collected_);
  renew_key_if_due();
  socket_state_.more_follows = parts.has_more_than(record.size());
  forget_old_errors();
  std::size_t written = 0;
  const int done = SSL_write_ex(ssl_.get(), record.data(), record.size(), &written);
  if (done == 1) {
    pending_bytes_ = 0;
    sent_bytes_ += written;
    return written;
  }
  if (auto failure = failure_of(done)) {
    failure->code = ErrorCode::kDisconnected; // there is no orderly end for somebody who sends
    return tl::unexpected<Error>(std::move(*failure));
  }
  pending_bytes_ = record.size();
  return 0;
}

void TlsTransport::renew_key_if_due() {
  // The kernel cannot change its key.
  if (sent_bytes_ >= bytes_per_key_ && pending_bytes_ == 0 && !socket_state_.kernel_encrypts &&
      SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1) {
    sent_bytes_ = 0;
  }
}

Result<std::size_t> TlsTransport::send(std::span<const ConstBytes> given) {
  std::size_t total = 0;
  for (Parts parts(given); !parts.empty();) {
    auto sent = send_record(parts);
    if (!sent && total == 0) {
      return sent;
    }
    if (!sent || *sent == 0) {
      break; // what has broken is broken at the next call too
    }
    parts.advance(*sent);
    total += *sent;
  }
  return total;
}

Result<std::size_t> TlsTransport::receive(MutableBytes into) {
  std::size_t total = 0;
  while (total < into.size()) {
    const std::lock_guard<std::mutex> held(mutex_);
    forget_old_errors();
    std::size_t got = 0;
    const int done = SSL_read_ex(ssl_.get(), into.data() + total, into.size() - total, &got);
    total += got;
    // Another look at a socket that the last read has emptied would be a system call for nothing.
    const bool empty = done == 1 && socket_state_.drained && SSL_has_pending(ssl_.get()) == 0;
    may_have_more_.store(done == 1 && !empty, std::memory_order_release);
    if (done == 1 && !empty) {
      continue;
    }
    auto failure = done == 1 || total != 0 ? std::nullopt : failure_of(done);
    return failure ? Result<std::size_t>(tl::unexpected<Error>(std::move(*failure))) : total;
  }
  return total;
}

Interest TlsTransport::wait(Interest interest, std::chrono::nanoseconds timeout, Waker* waker) {
  if (has(interest, Interest::kReadable) && may_have_more_.load(std::memory_order_acquire)) {
    const Interest writable = has(interest, Interest::kWritable) ? Interest::kWritable : Interest::kNone;
    return SocketTransport::wait(writable, std::chrono::nanoseconds{0}, waker) | Interest::kReadable;
  }
  return SocketTransport::wait(interest, timeout, waker);
}

void TlsTransport::shutdown() noexcept {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    forget_old_errors();
    static_cast<void>(SSL_shutdown(ssl_.get())); // says farewell, if there is room for it
    ERR_clear_error();
  }
  SocketTransport::shutdown();
}

Result<TransportPtr> accept_encrypted(UniqueFd socket, const Secret& one_time_key, std::chrono::milliseconds timeout) {
  auto transport = TlsTransport::make(TlsRole::kServer, std::move(socket), &one_time_key);
  if (!transport) {
    return pass_on(std::move(transport));
  }
  if (auto status = (*transport)->finish_handshake(deadline_after(timeout)); !status) {
    return pass_on(std::move(status));
  }
  return std::move(*transport);
}

} // namespace farcl::net
