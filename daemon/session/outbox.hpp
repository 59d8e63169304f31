// Outbox: what the session tells its client. Completions are collected and leave as one message per turn, or before any
// message that lets the client conclude that earlier commands are complete.
#pragma once

#include "farcl/net/link.hpp"
#include "farcl/protocol/message_list.hpp"

namespace farcl::daemon {

class Outbox {
public:
  explicit Outbox(net::FrameSender& sender) : sender_(sender) {}

  /// Appends a message behind everything that completed before. Message views are encoded at once.
  template <class Message>
  void send(const Message& message) {
    append_completions();
    sender_.append(message);
  }
  void complete(protocol::Completion completion) {
    collected_.completions.push_back(std::move(completion));
    if (collected_.completions.size() == protocol::kMaxCompletionsPerMessage) {
      append_completions();
    }
  }
  void append_completions() {
    if (!collected_.completions.empty()) {
      sender_.append(collected_);
      collected_.completions.clear();
    }
  }
  [[nodiscard]] bool has_completions() const noexcept { return !collected_.completions.empty(); }
  [[nodiscard]] net::FrameSender& sender() noexcept { return sender_; }

private:
  net::FrameSender& sender_;
  protocol::Completions collected_;
};

} // namespace farcl::daemon
