#include "farcl/kernel_compiler/client.hpp"

#include "wire.hpp"

#include <poll.h>

namespace farcl::kernel_compiler {

/// State that the header does not show.
struct CompileConnection::State {
  FrameReader reader;
};

CompileConnection::CompileConnection(UniqueFd socket) : socket_(std::move(socket)), state_(std::make_unique<State>()) {}
CompileConnection::CompileConnection(CompileConnection&&) noexcept = default;
CompileConnection& CompileConnection::operator=(CompileConnection&&) noexcept = default;
CompileConnection::~CompileConnection() = default;

Result<std::uint64_t> CompileConnection::send(const CompileRequest& request, std::chrono::milliseconds limit) {
  const std::uint64_t id = next_id_++;
  const ByteVector bytes = encode(request);
  if (bytes.size() > kMaxMessageBytes) {
    return fail(ErrorCode::kLimit, "a compile request of " + std::to_string(bytes.size()) + " bytes is too large");
  }
  if (auto sent = send_frame(socket_.get(), id, bytes, -1, std::chrono::steady_clock::now() + limit); !sent) {
    return pass_on(std::move(sent));
  }
  return id;
}

Result<std::optional<CompileReply>> CompileConnection::receive(std::chrono::milliseconds limit) {
  if (!early_.empty()) {
    CompileReply reply = std::move(early_.begin()->second);
    early_.erase(early_.begin());
    return std::optional(std::move(reply));
  }
  return receive_new(std::chrono::steady_clock::now() + limit);
}

Result<std::optional<CompileReply>> CompileConnection::receive_new(std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    if (std::optional<Frame> frame = state_->reader.take()) {
      CompileReply reply;
      reply.request_id = frame->request_id;
      reply.shared_object = std::move(frame->descriptor);
      Reader decoder(frame->message);
      if (!decoder.read(reply.data) || (reply.data.has_shared_object && !reply.shared_object)) {
        return fail(ErrorCode::kInvalid, "the compile service answered nonsense: " + decoder.error());
      }
      return std::optional(std::move(reply));
    }
    auto ready = wait_for(socket_.get(), POLLIN, deadline);
    if (!ready) {
      return pass_on(std::move(ready));
    }
    if (!*ready) {
      return std::optional<CompileReply>();
    }
    if (auto read = state_->reader.read_some(socket_.get()); !read) {
      return pass_on(std::move(read));
    }
  }
}

Result<CompileReply> CompileConnection::compile(const CompileRequest& request, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  auto id = send(request, limit);
  if (!id) {
    return pass_on(std::move(id));
  }
  for (;;) {
    auto reply = receive_new(deadline);
    if (!reply) {
      return pass_on(std::move(reply));
    }
    if (!reply->has_value()) {
      return fail(ErrorCode::kTimeout, "the compile service did not answer within " + std::to_string(limit.count()) + " ms");
    }
    if ((*reply)->request_id == *id) {
      return std::move(**reply);
    }
    const std::uint64_t other = (*reply)->request_id;
    early_.emplace(other, std::move(**reply));
  }
}

Status hand_over_connection(int control_socket, UniqueFd connection) { return send_descriptor(control_socket, connection.get()); }

} // namespace farcl::kernel_compiler
