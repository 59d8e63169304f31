// Transfers: bulk that comes from the client, for writes and for the initial contents of buffers.
//
// Where the bytes go is decided by the first chunk: straight into the buffer when the command needs nothing but them and the
// box has no gaps, else into staging memory (counted against the session's staging budget), or nowhere when the command has
// failed. Chunks come in order; anything else is a protocol error. Session thread only.
#pragma once

#include "daemon/scheduler/scheduler.hpp"
#include "daemon/session/budget.hpp"
#include "daemon/session/id_table.hpp"
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

  [[nodiscard]] Result<MutableBytes> destination(const protocol::BulkHeader& chunk, std::size_t size);
  [[nodiscard]] Status arrived(const protocol::BulkHeader& chunk, std::size_t size);

private:
  enum class Mode : std::uint8_t { kUndecided, kDirect, kStaged, kDiscarded };
  struct Transfer {
    Command* command = nullptr; ///< null: unwanted
    std::uint64_t size_bytes = 0;
    std::uint64_t received_bytes = 0;
    MutableBytes direct;
    Mode mode = Mode::kUndecided;
  };
  void decide(Transfer& transfer);
  void stage(Transfer& transfer);
  void finish(protocol::TransferId id, Transfer transfer);

  Scheduler& scheduler_;
  Budget& staging_;
  IdTable<protocol::TransferId, Transfer> transfers_;
  ByteVector discarded_; ///< where unwanted bytes are received
};

} // namespace farcl::daemon
