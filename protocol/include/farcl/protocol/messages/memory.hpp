// Buffers.
#pragma once

#include "farcl/base/archive.hpp"
#include "farcl/protocol/frame.hpp"
#include "farcl/protocol/ids.hpp"
#include "farcl/protocol/limits.hpp"

namespace farcl::protocol {

/// Initial contents (CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR) come inline or as bulk frames of `transfer`; commands that use
/// the buffer wait for them. Without either the contents are zeros.
struct CreateBuffer {
  static constexpr Opcode kOpcode = 48;
  BufferId buffer;
  ContextId context;
  std::uint64_t flags = 0; ///< cl_mem_flags, as the program gave them
  std::uint64_t size_bytes = 0;
  TransferId transfer;
  ConstBytes data;
  static constexpr auto fields() {
    using T = CreateBuffer;
    return std::tuple(field("buffer", &T::buffer), field("context", &T::context), field("flags", &T::flags),
                      field("size_bytes", &T::size_bytes), field("transfer", &T::transfer), field("data", &T::data, kMaxInlineBytes));
  }
};

/// Server to client, behind whatever initial contents the buffer has: it lies in the memory that came with the reply to the hello, and
/// stays there. The client may copy what is in it itself while no command uses the buffer.
struct BufferPlaced {
  static constexpr Opcode kOpcode = 50;
  BufferId buffer;
  std::uint64_t offset = 0; ///< from the start of the shared memory
  std::uint64_t size_bytes = 0;
  static constexpr auto fields() {
    using T = BufferPlaced;
    return std::tuple(field("buffer", &T::buffer), field("offset", &T::offset), field("size_bytes", &T::size_bytes));
  }
};

struct CreateSubBuffer {
  static constexpr Opcode kOpcode = 49;
  BufferId buffer;
  BufferId parent;
  std::uint64_t flags = 0;
  std::uint64_t origin = 0;
  std::uint64_t size_bytes = 0;
  static constexpr auto fields() {
    using T = CreateSubBuffer;
    return std::tuple(field("buffer", &T::buffer), field("parent", &T::parent), field("flags", &T::flags), field("origin", &T::origin),
                      field("size_bytes", &T::size_bytes));
  }
};

} // namespace farcl::protocol
