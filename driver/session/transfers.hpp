// Bytes on their way: reads that are expected, bulk that is to be sent.
#pragma once

#include "driver/objects/queue.hpp"
#include "farcl/base/byte_ranges.hpp"
#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"
#include "farcl/net/bulk_stream.hpp"
#include "farcl/net/bulk_window.hpp"
#include "farcl/net/link.hpp"
#include "farcl/protocol/message_list.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace farcl::driver {

/// A box in the program's memory: `base` is the first byte of the box; rows and slices lie a pitch apart.
struct HostBox {
  std::byte* base = nullptr;
  std::uint64_t width_bytes = 0;
  std::uint64_t height = 1;
  std::uint64_t depth = 1;
  std::uint64_t row_pitch = 0;
  std::uint64_t slice_pitch = 0;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return width_bytes * height * depth; }
  /// True when the box's bytes lie side by side.
  [[nodiscard]] bool is_linear() const noexcept;
  /// True when both may share a byte: their first and last bytes are compared.
  [[nodiscard]] bool overlaps(const HostBox& other) const noexcept;
  /// Copies `bytes`, which belong at `offset` of the gapless box, to their places.
  void scatter(std::uint64_t offset, ConstBytes bytes) const;
  /// The box without gaps.
  void gather(MutableBytes into) const;
  static HostBox linear(void* base, std::uint64_t size) { return {static_cast<std::byte*>(base), size, 1, 1, size, size}; }
};

/// One EnqueueRead that has not been answered. Belongs to whoever waits (its stack), or to the session if nobody does.
class IncomingRead {
public:
  explicit IncomingRead(HostBox box) : box_(box) {}

  bool done = false; ///< under the session's state lock, as everything here
  cl_int status = CL_SUCCESS;
  cl_int queue_status = CL_SUCCESS;
  bool owned_by_session = false; ///< nobody waits: deleted when done
  Ref<CommandQueue> queue;       ///< of those: gets a failure that nobody else can see
  bool has_event = false;
  std::uint64_t command = 0;              ///< its number in its queue
  std::shared_ptr<const void> keep_alive; ///< of the memory that is written to, if it is not the program's

  [[nodiscard]] const HostBox& box() const noexcept { return box_; }
  // Chunks may come in any order, but no byte twice.
  /// Where a chunk on the stream of commands goes; it is there when `arrived` is called.
  [[nodiscard]] Result<MutableBytes> destination(std::uint64_t offset, std::size_t size);
  [[nodiscard]] Status arrived();
  /// A chunk that came on another stream.
  [[nodiscard]] Status take(std::uint64_t offset, ConstBytes bytes);
  [[nodiscard]] std::uint64_t missing_bytes() const noexcept { return box_.size_bytes() - received_.bytes(); }
  /// The ReadResult: `inline_data` or everything has come before. False when bytes are missing.
  [[nodiscard]] bool complete(ConstBytes inline_data);

private:
  [[nodiscard]] Status check(std::uint64_t offset, std::size_t size) const;

  HostBox box_;
  ByteRanges received_;
  std::uint64_t pending_offset_ = 0; ///< of the chunk that is being received
  std::size_t pending_size_ = 0;
  ByteVector chunk_; ///< that one, if the box is not linear
};

/// Bulk that waits for its turn: never more than kUnsentBulkBytes of it stand in front of small messages.
class OutgoingBulk {
public:
  static constexpr std::size_t kUnsentBulkBytes = 1u << 20;

  /// `after`: reads that must have ended before the data is looked at.
  void add(protocol::TransferId transfer, ConstBytes data, std::shared_ptr<const void> keep_alive, std::vector<protocol::TransferId> after);
  void read_ended(protocol::TransferId read);
  [[nodiscard]] bool empty() const noexcept { return transfers_.empty(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept; ///< not appended
  /// True when a transfer waits for no read.
  [[nodiscard]] bool has_ready() const noexcept;
  /// The next chunk of a ready one, copied.
  [[nodiscard]] net::BulkChunk take_copy(std::size_t at_most_bytes);
  /// Appends what may be appended now; true if it appended anything.
  bool pump(net::FrameSender& sender, net::BulkWindow& window, const net::Transport& transport, std::uint64_t retained_limit);
  /// True while some of the transfer has not been appended.
  [[nodiscard]] bool is_waiting(protocol::TransferId transfer) const noexcept;
  void clear() { transfers_.clear(); }

private:
  struct Transfer {
    protocol::TransferId id;
    ConstBytes data;
    std::uint64_t appended = 0;
    std::shared_ptr<const void> keep_alive;
    std::vector<protocol::TransferId> after;
  };
  using Transfers = std::deque<Transfer>;
  struct Chunk {
    Transfers::iterator transfer;
    std::uint64_t offset;
    ConstBytes bytes;
  };
  [[nodiscard]] static Chunk next_chunk(Transfers::iterator transfer, std::size_t at_most_bytes);
  /// The transfer behind it if it was the last chunk.
  Transfers::iterator took(const Chunk& chunk);

  Transfers transfers_;
};

} // namespace farcl::driver
