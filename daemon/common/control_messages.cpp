#include "daemon/common/control_messages.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace farcl::daemon {

namespace {
inline constexpr std::size_t kFdSpace = CMSG_SPACE(kMaxControlFds * sizeof(int));

std::vector<UniqueFd> take_fds(const msghdr& header) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(const_cast<msghdr*>(&header), part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}
} // namespace

Status send_control_packet(int socket, ConstBytes packet, std::span<const int> fds) {
  FARCL_ASSERT(packet.size() <= kMaxControlBytes && fds.size() <= kMaxControlFds);
  iovec data{const_cast<std::byte*>(packet.data()), packet.size()};
  alignas(cmsghdr) char space[kFdSpace] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = space;
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    return {};
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ETOOMANYREFS) {
    return fail(ErrorCode::kLimit, "the control channel is full");
  }
  if (errno == EPIPE || errno == ECONNRESET) {
    return fail(ErrorCode::kClosed, "the control channel is closed");
  }
  return fail_errno(errno, "cannot write to a control channel");
}

Result<ControlPacket> receive_control_packet(int socket) {
  ControlPacket packet;
  packet.bytes.resize(kMaxControlBytes);
  iovec data{packet.bytes.data(), packet.bytes.size()};
  alignas(cmsghdr) char space[kFdSpace] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = space;
  header.msg_controllen = sizeof space;
  ssize_t received = -1;
  do {
    received = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return fail(ErrorCode::kTimeout, "nothing to read on a control channel");
    }
    if (errno == ECONNRESET) {
      received = 0;
    } else {
      return fail_errno(errno, "cannot read from a control channel");
    }
  }
  packet.fds = take_fds(header);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return fail(ErrorCode::kInvalid, "a control message is too long");
  }
  packet.bytes.resize(static_cast<std::size_t>(received));
  return packet;
}

} // namespace farcl::daemon
