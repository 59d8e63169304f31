// The ids of a session's objects. All are chosen by the client, never 0, never used twice within a session.
#pragma once

#include "farcl/base/strong_id.hpp"

#include <array>
#include <cstdint>

namespace farcl::protocol {

using ContextId = StrongId<struct ContextTag>;
using QueueId = StrongId<struct QueueTag>;
using BufferId = StrongId<struct BufferTag>;
using ProgramId = StrongId<struct ProgramTag>;
using EventId = StrongId<struct EventTag>;
using TransferId = StrongId<struct TransferTag>; ///< one bulk movement of bytes, in either direction
using RequestId = StrongId<struct RequestTag>;   ///< pairs a reply with its request

/// Chosen by the server from the system's random source.
using SessionId = std::array<std::uint8_t, 16>;

enum class ObjectKind : std::uint8_t { kContext, kQueue, kBuffer, kProgram };
constexpr bool is_known(ObjectKind kind) { return kind <= ObjectKind::kProgram; }

} // namespace farcl::protocol
