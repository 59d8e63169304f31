// From opcode to handler, by a table that the message list makes. A message without a handle() does not compile.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/protocol/message_list.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace farcl::protocol {

/// Decodes a whole payload as one message, over what `message` was. Trailing bytes are an error: both sides agreed on the version.
template <class Message>
[[nodiscard]] Status decode_into(Message& message, ConstBytes payload) {
  Reader reader(payload);
  if (!reader.read(message)) {
    return fail(ErrorCode::kInvalid, std::string(kMessageName<Message>) + ": " + reader.error());
  }
  if (reader.remaining() != 0) {
    return fail(ErrorCode::kInvalid, std::string(kMessageName<Message>) + ": " + std::to_string(reader.remaining()) + " bytes too many");
  }
  return {};
}

template <class Message>
[[nodiscard]] Result<Message> decode(ConstBytes payload) {
  Message message;
  if (auto status = decode_into(message, payload); !status) {
    return pass_on(std::move(status));
  }
  return message;
}

/// Dispatches messages of `List` to `Handler`, which has `Status handle(Message&&)` for each of them. Views inside a message
/// (ConstBytes) are valid only during the call. Where the handler has `Message& recycled(std::type_identity<Message>)`, that value is
/// decoded into, so that its vectors keep their memory: for messages that come by the million.
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
    if constexpr (requires { handler.recycled(std::type_identity<Message>()); }) {
      return decode_and_handle(handler, handler.recycled(std::type_identity<Message>()), payload);
    } else {
      Message message;
      return decode_and_handle(handler, message, payload);
    }
  }
  template <class Message>
  static Status decode_and_handle(Handler& handler, Message& message, ConstBytes payload) {
    if (auto status = decode_into(message, payload); !status) {
      return status;
    }
    return handler.handle(std::move(message));
  }
  static constexpr auto kTable = [] {
    std::array<Function, kLargest + 1> table{};
    ((table[Messages::kOpcode] = &call<Messages>), ...);
    return table;
  }();
};

} // namespace farcl::protocol
