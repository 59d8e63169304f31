// The socket below TLS. OpenSSL's own writes raise SIGPIPE in the process that the driver is a guest of, and do not tell whether a read
// has emptied the socket. What the kernel's TLS needs (ENABLE_KTLS) is left to OpenSSL's own.
#include "tls_session.hpp"

#include <cerrno>
#include <csignal>
#include <openssl/bio.h>
#include <sys/socket.h>

namespace farcl::net {

namespace {
bool may_be_tried_again(int error_number) { return error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR; }

/// Sends with OpenSSL's own function, which knows the kernel's TLS, and swallows the signal of a broken connection.
int write_to_kernel_tls(BIO* bio, const char* bytes, int size) {
  sigset_t pipe;
  sigset_t before;
  sigset_t pending;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::sigpending(&pending);
  const bool was_pending = ::sigismember(&pending, SIGPIPE) == 1;
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const int written = BIO_meth_get_write(BIO_s_socket())(bio, bytes, size);
  const int error_number = errno;
  if (written < 0 && error_number == EPIPE && !was_pending) {
    constexpr timespec kNow{};
    ::sigtimedwait(&pipe, nullptr, &kNow);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error_number;
  return written;
}

int write_some(BIO* bio, const char* bytes, int size) {
  const auto& state = *static_cast<SocketState*>(BIO_get_data(bio));
  if (state.shaking_hands ? BIO_get_ktls_send(bio) : state.kernel_encrypts) {
    return write_to_kernel_tls(bio, bytes, size);
  }
  BIO_clear_retry_flags(bio);
  // Records are small for a socket: together they are fewer, larger segments, as with one write.
  const int more = state.more_follows ? MSG_MORE : 0;
  const ssize_t sent = ::send(state.socket, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT | more);
  if (sent < 0 && may_be_tried_again(errno)) {
    BIO_set_retry_write(bio);
  }
  return static_cast<int>(sent);
}

int read_some(BIO* bio, char* bytes, int size) {
  auto& state = *static_cast<SocketState*>(BIO_get_data(bio));
  if (state.shaking_hands ? BIO_get_ktls_recv(bio) : state.kernel_decrypts) {
    state.drained = false; // a record at a time: only an empty read tells
    return BIO_meth_get_read(BIO_s_socket())(bio, bytes, size);
  }
  BIO_clear_retry_flags(bio);
  if (state.closed_for_reading) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const ssize_t got = ::recv(state.socket, bytes, static_cast<std::size_t>(size), MSG_DONTWAIT);
  state.drained = got < size;
  if (got < 0 && may_be_tried_again(errno)) {
    BIO_set_retry_read(bio);
  } else if (got == 0) {
    BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  }
  return static_cast<int>(got);
}

BIO_METHOD* make_method() {
  const BIO_METHOD* const own = BIO_s_socket();
  BIO_METHOD* const method = BIO_meth_new(BIO_TYPE_SOCKET, "socket without signals");
  if (method != nullptr) {
    BIO_meth_set_create(method, BIO_meth_get_create(own));
    BIO_meth_set_destroy(method, BIO_meth_get_destroy(own));
    BIO_meth_set_ctrl(method, BIO_meth_get_ctrl(own));
    BIO_meth_set_write(method, write_some);
    BIO_meth_set_read(method, read_some);
  }
  return method;
}
} // namespace

bool attach_socket(SSL* ssl, int socket, SocketState& state) noexcept {
  static BIO_METHOD* const method = make_method(); // kept for ever, as the contexts
  BIO* const bio = method == nullptr ? nullptr : BIO_new(method);
  if (bio == nullptr) {
    return false;
  }
  state.socket = socket;
  BIO_set_fd(bio, socket, BIO_NOCLOSE);
  BIO_set_data(bio, &state);
  SSL_set_bio(ssl, bio, bio);
  return true;
}

void note_kernel_tls(const SSL* ssl, SocketState& state) noexcept {
  state.kernel_encrypts = BIO_get_ktls_send(SSL_get_wbio(ssl));
  state.kernel_decrypts = BIO_get_ktls_recv(SSL_get_rbio(ssl));
  state.shaking_hands = false;
}

} // namespace farcl::net
