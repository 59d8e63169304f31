// THE list of messages. Codec, dispatch, printing, golden bytes, fuzz seeds and the table in docs/protocol.md come from it.
//
// To add a message: its struct in messages/, its line here, the driver's or the daemon's handle(), and its tests.
#pragma once

#include "farcl/protocol/messages/enqueue.hpp"
#include "farcl/protocol/messages/memory.hpp"
#include "farcl/protocol/messages/program.hpp"
#include "farcl/protocol/messages/session.hpp"

#include <string_view>

namespace farcl::protocol {

template <class... Messages>
struct MessageList {};

/// What a client sends to a server.
using ClientMessages = MessageList<Goodbye, Leaving, CreateContext, CreateQueue, ReleaseObject, ReleaseEvents, CreateUserEvent,
                                   SetUserEventStatus, CreateBuffer, CreateSubBuffer, BuildProgram, GetProgramBinary, EnqueueKernel,
                                   EnqueueRead, EnqueueWrite, EnqueueCopy, EnqueueFill, EnqueueMarker, Finish>;

/// What a server sends to a client.
using ServerMessages = MessageList<ServerInfo, SessionFailed, ObjectFailed, PrintfOutput, BuildDone, SourceWanted, ProgramBinary,
                                   Completions, ReadResult, Finished, BufferPlaced>;

/// The reply that answers a request, void where none does. What documentation and tests go by.
template <class Message>
struct ReplyOf {
  using type = void;
};
template <>
struct ReplyOf<BuildProgram> {
  using type = BuildDone;
};
template <>
struct ReplyOf<GetProgramBinary> {
  using type = ProgramBinary;
};
template <>
struct ReplyOf<EnqueueRead> {
  using type = ReadResult;
};
template <>
struct ReplyOf<Finish> {
  using type = Finished;
};

namespace detail {
/// The unqualified name of a message type, from the compiler's own spelling of this function.
template <class Message>
constexpr std::string_view name_of() {
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(text.find("Message = ") + 10);
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}
template <class List>
struct OpcodesDiffer;
template <class... Messages>
struct OpcodesDiffer<MessageList<Messages...>> {
  static constexpr bool value = [] {
    constexpr Opcode kOpcodes[] = {Messages::kOpcode...};
    for (std::size_t i = 0; i < sizeof...(Messages); ++i) {
      for (std::size_t j = i + 1; j < sizeof...(Messages); ++j) {
        if (kOpcodes[i] == kOpcodes[j]) {
          return false;
        }
      }
      if (kOpcodes[i] < kFirstMessageOpcode) {
        return false;
      }
    }
    return true;
  }();
};
static_assert(OpcodesDiffer<ClientMessages>::value && OpcodesDiffer<ServerMessages>::value);
} // namespace detail

template <class Message>
inline constexpr std::string_view kMessageName = detail::name_of<Message>();

/// Calls `function.template operator()<Message>()` for each message of a list.
template <class Function, class... Messages>
constexpr void for_each_message(MessageList<Messages...>, Function&& function) {
  (function.template operator()<Messages>(), ...);
}

} // namespace farcl::protocol
