// How a session gets, loses and changes its connection, and how it ends.
#include "daemon/session/session.hpp"

#include <algorithm>

namespace farcl::daemon {

namespace {
using namespace std::chrono_literals;
/// A reply to a hello that the peer does not take within this is a connection not worth having.
constexpr auto kHelloReplyTime = 1s;

Status write_all(net::Transport& transport, ConstBytes bytes) {
  const auto until = std::chrono::steady_clock::now() + kHelloReplyTime;
  while (!bytes.empty()) {
    auto written = transport.send(std::span<const ConstBytes>(&bytes, 1));
    if (!written) {
      return pass_on(std::move(written));
    }
    bytes = bytes.subspan(*written);
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) {
      return fail(ErrorCode::kTimeout, "the peer does not take the answer to its hello");
    }
    if (*written == 0) {
      transport.wait(net::Interest::kWritable, until - now, nullptr);
    }
  }
  return {};
}
} // namespace

Status Session::answer_hello(net::Transport& transport, bool first, protocol::HelloStatus status, std::string text) {
  protocol::HelloReply reply;
  reply.status = status;
  if (status == protocol::HelloStatus::kWelcome) {
    reply.session = config_.id;
    if (first) {
      reply.secret = config_.secret;
    }
    reply.received = receiver_.received_sequence().load(std::memory_order_relaxed);
  }
  reply.text = std::move(text);
  return write_all(transport, protocol::encode_hello_reply(reply));
}

void Session::take(Attachment attachment) {
  // The client has given the old connection up when it makes a new one, whatever this side has seen of it so far.
  transport_.reset();
  net::Transport& fresh = *attachment.transport;
  if (attachment.version_min > protocol::kVersion || attachment.version_max < protocol::kVersion) {
    (void)answer_hello(fresh, false, protocol::HelloStatus::kBadVersion,
                       "this server speaks version " + std::to_string(protocol::kVersion) + " of FarCL's protocol");
    if (!welcomed_) {
      end_session("its client speaks another version of the protocol", false);
    }
    return;
  }
  if (auto resumed = sender_.on_resumed(attachment.received); !resumed) {
    (void)answer_hello(fresh, false, protocol::HelloStatus::kRefused, "the session cannot be resumed: " + resumed.error().message);
    end_session("a connection that cannot be resumed: " + resumed.error().message, true);
    return;
  }
  receiver_.on_resumed();
  resumable_ = attachment.resumable;
  detached_since_ = Clock::now();
  const bool first = !welcomed_;
  welcomed_ = true; // also when the reply is lost: the client may have read it
  if (first) {
    state_->shared = std::move(attachment.shared);
    send_server_info(); // the session's first frame; with the clock of this moment
  }
  if (auto answered = answer_hello(fresh, first, protocol::HelloStatus::kWelcome, {}); !answered) {
    return; // still detached; the client will try again
  }
  transport_ = std::move(attachment.transport);
}

void Session::take(EndOrder order) {
  farewell_ = std::move(order.sentence);
  end_session(farewell_.empty() ? "it was told to" : farewell_, false);
}

void Session::detach(const Error& why) {
  if (config_.log != nullptr) {
    config_.log->debug("connection lost: " + why.message);
  }
  transport_.reset();
  detached_since_ = Clock::now();
}

void Session::end_session(std::string reason, bool failed) {
  if (!ended_) {
    ended_ = true;
    end_ = {std::move(reason), failed};
  }
}

void Session::fail_session(const std::string& sentence) {
  if (!ended_) {
    farewell_ = sentence;
  }
  end_session("protocol error: " + sentence, true);
}

} // namespace farcl::daemon
