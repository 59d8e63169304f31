// How a session gets, loses and changes its connection, and how it ends.
#include "daemon/session/session.hpp"
#include "farcl/net/accept.hpp"

#include <algorithm>

namespace farcl::daemon {

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
  return net::send_hello_reply(transport, reply);
}

// Its thread answers the hello: only it knows what it has received.
void Session::take_stream(Attachment attachment) {
  protocol::HelloReply reply;
  reply.session = config_.id;
  state_->bulk_streams.attach(attachment.stream, {std::move(attachment.transport), attachment.received, reply});
}

void Session::take(Attachment attachment) {
  if (attachment.stream != 0) {
    return take_stream(std::move(attachment));
  }
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
  state_->streams.forget_link();
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
  if (state_->goodbye || state_->leaving) {
    end_session(state_->goodbye ? "the client said goodbye" : "its program has ended", false);
  }
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
