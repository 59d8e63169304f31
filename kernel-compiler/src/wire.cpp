#include "wire.hpp"

#include "farcl/kernel_compiler/messages.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace farcl::kernel_compiler {
namespace {

/// A message grows as it arrives: a lie about its size costs the liar the bytes.
constexpr std::size_t kReadStep = 256 * 1024;

struct ControlBuffer {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> bytes{};
};

void attach(msghdr& message, ControlBuffer& control, int descriptor) {
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_SPACE(sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
}

/// Keeps the first descriptor and closes any others.
UniqueFd detach(msghdr& message) {
  UniqueFd kept;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
      UniqueFd owned(descriptor);
      if (!kept) {
        kept = std::move(owned);
      }
    }
  }
  return kept;
}

Result<std::size_t> send_once(int socket, ConstBytes bytes, int descriptor) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  ControlBuffer control;
  if (descriptor >= 0) {
    attach(message, control, descriptor);
  }
  const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) {
    return static_cast<std::size_t>(sent);
  }
  if (errno == EAGAIN || errno == EINTR) {
    return std::size_t{0};
  }
  return fail(ErrorCode::kDisconnected, std::string("the other end of the compile connection is gone: ") + std::strerror(errno));
}

Status send_all(int socket, ConstBytes bytes, int descriptor, Deadline deadline) {
  while (!bytes.empty()) {
    auto sent = send_once(socket, bytes, descriptor);
    if (!sent) {
      return pass_on(std::move(sent));
    }
    bytes = bytes.subspan(*sent);
    if (*sent > 0) {
      descriptor = -1;
      continue;
    }
    auto ready = wait_for(socket, POLLOUT, deadline);
    if (!ready) {
      return pass_on(std::move(ready));
    }
    if (!*ready) {
      return fail(ErrorCode::kTimeout, "the other end of the compile connection does not read");
    }
  }
  return {};
}

} // namespace

Result<bool> wait_for(int socket, short events, Deadline deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd entry{socket, events, 0};
    const int limit = static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
    const int count = ::poll(&entry, 1, limit);
    if (count > 0) {
      return true;
    }
    if (count == 0 && left <= 3'600'000) {
      return false;
    }
    if (count < 0 && errno != EINTR) {
      return fail_errno(errno, "poll");
    }
  }
}

Status send_frame(int socket, std::uint64_t request_id, ConstBytes message, int descriptor, Deadline deadline) {
  FrameHeader header{kFrameMagic, descriptor >= 0 ? kFlagHasDescriptor : 0, request_id, message.size()};
  if (auto sent = send_all(socket, std::as_bytes(std::span(&header, 1)), descriptor, deadline); !sent) {
    return sent;
  }
  return send_all(socket, message, -1, deadline);
}

Result<bool> FrameSender::advance(int socket, std::uint64_t request_id, ConstBytes message, int descriptor) {
  const FrameHeader header{kFrameMagic, descriptor >= 0 ? kFlagHasDescriptor : 0, request_id, message.size()};
  const ConstBytes header_bytes = std::as_bytes(std::span(&header, 1));
  while (sent_ < sizeof header + message.size()) {
    const bool in_header = sent_ < sizeof header;
    const ConstBytes rest = in_header ? header_bytes.subspan(sent_) : message.subspan(sent_ - sizeof header);
    auto sent = send_once(socket, rest, sent_ == 0 ? descriptor : -1);
    if (!sent) {
      return pass_on(std::move(sent));
    }
    if (*sent == 0) {
      return false;
    }
    sent_ += *sent;
  }
  sent_ = 0;
  return true;
}

Status FrameReader::accept_header() {
  if (header_.magic != kFrameMagic || header_.size_bytes > kMaxMessageBytes) {
    return fail(ErrorCode::kInvalid, "not a frame of the compile service");
  }
  return {};
}

Status FrameReader::read_some(int socket) {
  const std::uint64_t in_message = filled_ >= sizeof header_ ? filled_ - sizeof header_ : 0;
  iovec part{};
  if (filled_ < sizeof header_) {
    part = {reinterpret_cast<char*>(&header_) + filled_, static_cast<std::size_t>(sizeof header_ - filled_)};
  } else {
    message_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(header_.size_bytes, in_message + kReadStep)));
    part = {message_.data() + in_message, message_.size() - static_cast<std::size_t>(in_message)};
  }
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t received = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received < 0) {
    return errno == EAGAIN || errno == EINTR ? Status()
                                             : Status(fail(ErrorCode::kDisconnected, std::string("recvmsg: ") + std::strerror(errno)));
  }
  if (received == 0) {
    return fail(ErrorCode::kClosed, "the compile connection was closed");
  }
  if (UniqueFd descriptor = detach(message)) {
    descriptor_ = std::move(descriptor);
  }
  filled_ += static_cast<std::uint64_t>(received);
  if (filled_ < sizeof header_) {
    return {};
  }
  if (auto accepted = accept_header(); !accepted) {
    return accepted;
  }
  if (filled_ == sizeof header_ + header_.size_bytes) {
    message_.resize(static_cast<std::size_t>(header_.size_bytes));
    ready_.push_back({header_.request_id, std::move(message_), std::move(descriptor_)});
    message_ = {};
    filled_ = 0;
  }
  return {};
}

std::optional<Frame> FrameReader::take() {
  if (ready_.empty()) {
    return std::nullopt;
  }
  Frame frame = std::move(ready_.front());
  ready_.erase(ready_.begin());
  return frame;
}

Status send_descriptor(int socket, int descriptor) {
  const std::byte mark{1};
  return send_all(socket, ConstBytes(&mark, 1), descriptor, std::chrono::steady_clock::now() + std::chrono::seconds(5));
}

Result<UniqueFd> receive_descriptor(int socket) {
  char mark = 0;
  iovec part{&mark, 1};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t received = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received > 0) {
    return detach(message);
  }
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) {
    return UniqueFd();
  }
  return fail(ErrorCode::kClosed, "the control socket was closed");
}

} // namespace farcl::kernel_compiler
