// From opcode to handler, by a table that the message list makes. A message without a handle() does not compile.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/protocol/message_list.hpp"

#include <algorithm>
#include <array>

namespace farcl::protocol {

/// Decodes a whole payload as one message. Trailing bytes are an error: both sides agreed on the version.
template <class Message>
[[nodiscard]] Result<Message> decode(ConstBytes payload) {
  Message message;
  Reader reader(payload);
  if (!reader.read(message)) {
    return fail(ErrorCode::kInvalid, std::string(kMessageName<Message>) + ": " + reader.error());
  }
  if (reader.remaining() != 0) {
    return fail(ErrorCode::kInvalid, std::string(kMessageName<Message>) + ": " + std::to_string(reader.remaining()) + " bytes too many");
  }
  return message;
}

/// Dispatches messages of `List` to `Handler`, which has `Status handle(Message&&)` for each of them. Views inside a message
/// (ConstBytes) are valid only during the call.
template <class List, class Handler>
class Dispatcher;

template <class... Messages, class Handler>
class Dispatcher<MessageList<Messages...>, Handler> {
public:
  /// An unknown opcode or a payload that does not decode is an error, and the handler has not been called.
  static Status dispatch(Handler& handler, Opcode opcode, ConstBytes payload) {
    if (opcode >= kTable.size() || kTable[opcode] == nullptr) {
      return fail(ErrorCode::kInvalid, "unknown opcode " + std::to_string(opcode));
    }
    return kTable[opcode](handler, payload);
  }

private:
  using Function = Status (*)(Handler&, ConstBytes);
  static constexpr Opcode kLargest = std::max({Messages::kOpcode...});

  template <class Message>
  static Status call(Handler& handler, ConstBytes payload) {
    auto message = decode<Message>(payload);
    if (!message) {
      return pass_on(std::move(message));
    }
    return handler.handle(std::move(*message));
  }
  static constexpr auto kTable = [] {
    std::array<Function, kLargest + 1> table{};
    ((table[Messages::kOpcode] = &call<Messages>), ...);
    return table;
  }();
};

} // namespace farcl::protocol
