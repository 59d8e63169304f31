// Transfers: bulk that comes from the client, for writes and for the initial contents of buffers.
//
// Where the bytes go is decided by the first chunk: straight into the buffer when the command needs nothing but them and the
// box has no gaps, else into staging memory (counted against the session's staging budget), or nowhere when the command has
// failed. Chunks come in any order, but no byte comes twice: that is a protocol error. Session thread only.
#pragma once

#include "daemon/scheduler/scheduler.hpp"
#include "daemon/session/budget.hpp"
#include "daemon/session/id_table.hpp"
#include "farcl/base/byte_ranges.hpp"
#include "farcl/protocol/frame.hpp"

namespace farcl::daemon {

class Transfers {
public:
  Transfers(Scheduler& scheduler, Budget& staging) : scheduler_(scheduler), staging_(staging) {}

  /// The command (not entered yet) waits for `size_bytes` of `transfer`. `destination`: where they may be received directly
  /// once the command waits for nothing else; empty if they may not.
  [[nodiscard]] Status expect(protocol::TransferId transfer, Command& command, std::uint64_t size_bytes, MutableBytes destination);
  /// Bytes that nobody wants: of a create that failed.
  [[nodiscard]] Status expect_unwanted(protocol::TransferId transfer, std::uint64_t size_bytes);

  /// Where a chunk on the stream of commands is received; `arrived` follows.
  [[nodiscard]] Result<MutableBytes> destination(const protocol::BulkHeader& chunk, std::size_t size);
  [[nodiscard]] Status arrived(const protocol::BulkHeader& chunk, std::size_t size);
  /// A chunk that came on another stream; false when its transfer has not been announced.
  [[nodiscard]] Result<bool> take(const protocol::BulkHeader& chunk, ConstBytes bytes);

private:
  enum class Mode : std::uint8_t { kUndecided, kDirect, kStaged, kDiscarded };
  struct Transfer {
    Command* command = nullptr; ///< null: unwanted
    std::uint64_t size_bytes = 0;
    MutableBytes direct;
    Mode mode = Mode::kUndecided;
    ByteRanges received;
    std::uint64_t pending_offset = 0; ///< of the chunk that is being received on the stream of commands
    std::size_t pending_size = 0;
  };
  [[nodiscard]] static Status check(const protocol::BulkHeader& chunk, const Transfer& transfer, std::size_t size);
  [[nodiscard]] MutableBytes place(const protocol::BulkHeader& chunk, Transfer& transfer, std::size_t size);
  [[nodiscard]] Status add(const protocol::BulkHeader& chunk, Transfer& transfer, std::size_t size);
  void decide(Transfer& transfer);
  void stage(Transfer& transfer);
  void finish(const Transfer& transfer);

  Scheduler& scheduler_;
  Budget& staging_;
  IdTable<protocol::TransferId, Transfer> transfers_;
  ByteVector discarded_; ///< where unwanted bytes are received
};

} // namespace farcl::daemon
