// Descriptors over a Unix socket: how the supervisor hands connections to workers.
#include "farcl/net/accept.hpp"
#include "sleep.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace farcl::net {

namespace {
constexpr std::size_t kMaxPassedFds = 16;
constexpr auto kPassTimeout = std::chrono::seconds(1); ///< for a peer that does not read its control messages
using ControlBuffer = std::array<std::byte, CMSG_SPACE(sizeof(int) * kMaxPassedFds)>;

/// Takes the descriptors out of a received message, so that they are closed whatever happens next.
std::vector<UniqueFd> take_fds(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr; control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}
} // namespace

Status send_with_fds(int socket, ConstBytes bytes, std::span<const int> fds) {
  if (bytes.empty() || fds.size() > kMaxPassedFds) {
    return fail(ErrorCode::kLimit,
                "descriptors are passed with at least one byte and at most " + std::to_string(kMaxPassedFds) + " at once");
  }
  const auto deadline = deadline_after(kPassTimeout);
  alignas(cmsghdr) ControlBuffer control{};
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  while (part.iov_len > 0) {
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      part.iov_base = static_cast<std::byte*>(part.iov_base) + sent;
      part.iov_len -= static_cast<std::size_t>(sent);
      message.msg_control = nullptr; // they went with the first byte
      message.msg_controllen = 0;
    } else if (sent < 0 && errno == EAGAIN) {
      const auto left = time_left(deadline);
      if (left.count() == 0) {
        return fail(ErrorCode::kTimeout, "the other process does not take the descriptors");
      }
      pollfd one{socket, POLLOUT, 0};
      sleep_on(std::span(&one, 1), left, nullptr);
    } else if (sent < 0 && errno != EINTR) {
      return fail_errno(errno, "cannot pass descriptors");
    }
  }
  return {};
}

Result<ReceivedWithFds> receive_with_fds(int socket, MutableBytes into, std::size_t max_fds, int flags) {
  alignas(cmsghdr) ControlBuffer control{};
  iovec part{into.data(), into.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t received = 0;
  do {
    received = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
  } while (received < 0 && errno == EINTR);
  if (received < 0) {
    return errno == EAGAIN ? fail(ErrorCode::kTimeout, "no descriptors have arrived") : fail_errno(errno, "cannot receive descriptors");
  }
  ReceivedWithFds result{static_cast<std::size_t>(received), take_fds(message)};
  if ((message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0 || result.fds.size() > max_fds) {
    return fail(ErrorCode::kLimit, "more bytes or descriptors than expected");
  }
  return result;
}

} // namespace farcl::net
