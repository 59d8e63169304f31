// Commands of queues, and what comes back from them.
#pragma once

#include "farcl/base/archive.hpp"
#include "farcl/protocol/frame.hpp"
#include "farcl/protocol/ids.hpp"
#include "farcl/protocol/limits.hpp"

#include <array>
#include <variant>
#include <vector>

namespace farcl::protocol {

/// What every command has.
struct CommandHeader {
  QueueId queue;
  EventId event;       ///< 0: nobody can name this command's event
  bool notify = false; ///< somebody can see the completion: send it
  std::vector<EventId> wait_list;

  static constexpr auto fields() {
    using T = CommandHeader;
    return std::tuple(field("queue", &T::queue), field("event", &T::event), field("notify", &T::notify),
                      field("wait_list", &T::wait_list, kMaxWaitListEvents));
  }
};

/// A box of bytes inside a buffer. A linear range is {offset, size, 1, 1, size, size}. In a transfer the rows stand without gaps.
struct BufferRect {
  std::uint64_t offset = 0; ///< of the first byte, from the start of the buffer (or sub-buffer)
  std::uint64_t width_bytes = 0;
  std::uint64_t height = 1;
  std::uint64_t depth = 1;
  std::uint64_t row_pitch = 0;
  std::uint64_t slice_pitch = 0;

  static constexpr auto fields() {
    using T = BufferRect;
    return std::tuple(field("offset", &T::offset), field("width_bytes", &T::width_bytes), field("height", &T::height),
                      field("depth", &T::depth), field("row_pitch", &T::row_pitch), field("slice_pitch", &T::slice_pitch));
  }
  static constexpr BufferRect linear(std::uint64_t offset, std::uint64_t size) { return {offset, size, 1, 1, size, size}; }
  friend bool operator==(const BufferRect&, const BufferRect&) = default;
};
/// Bytes that the box holds; nothing if it is empty, the pitches make rows overlap, or a product overflows.
[[nodiscard]] Result<std::uint64_t> size_bytes(const BufferRect& rect);
/// Checks that the box lies within a buffer of `buffer_bytes` (overflow included) and returns size_bytes.
[[nodiscard]] Result<std::uint64_t> check_within(const BufferRect& rect, std::uint64_t buffer_bytes);

struct ValueArgument {
  ConstBytes bytes;
  static constexpr auto fields() { return std::tuple(field("bytes", &ValueArgument::bytes, kMaxKernelArgumentBytes)); }
};
struct BufferArgument {
  BufferId buffer; ///< 0: a null pointer
  static constexpr auto fields() { return std::tuple(field("buffer", &BufferArgument::buffer)); }
};
struct LocalArgument {
  std::uint64_t size_bytes = 0;
  static constexpr auto fields() { return std::tuple(field("size_bytes", &LocalArgument::size_bytes)); }
};
using KernelArgument = std::variant<ValueArgument, BufferArgument, LocalArgument>;

struct EnqueueKernel {
  static constexpr Opcode kOpcode = 32;
  CommandHeader command;
  ProgramId program;
  std::uint32_t kernel_index = 0; ///< into ProgramInfo::kernels of the program's last build
  std::uint8_t work_dim = 1;
  std::array<std::uint64_t, 3> global_offset{};
  std::array<std::uint64_t, 3> global_size{1, 1, 1}; ///< unused dimensions are 1
  std::array<std::uint64_t, 3> local_size{};         ///< zeros: the device chooses
  std::vector<KernelArgument> arguments;             ///< all of them, in order: the values at the time of the enqueue

  static constexpr auto fields() {
    using T = EnqueueKernel;
    return std::tuple(field("command", &T::command), field("program", &T::program), field("kernel_index", &T::kernel_index),
                      field("work_dim", &T::work_dim), field("global_offset", &T::global_offset), field("global_size", &T::global_size),
                      field("local_size", &T::local_size), field("arguments", &T::arguments, 1024));
  }
};

/// The answer is one ReadResult, behind bulk frames for `transfer` when the data is larger than kMaxInlineBytes.
struct EnqueueRead {
  static constexpr Opcode kOpcode = 33;
  CommandHeader command;
  BufferId buffer;
  BufferRect rect;
  TransferId transfer;

  static constexpr auto fields() {
    using T = EnqueueRead;
    return std::tuple(field("command", &T::command), field("buffer", &T::buffer), field("rect", &T::rect), field("transfer", &T::transfer));
  }
};

/// Up to kMaxInlineBytes travel in `data`; more comes as bulk frames of `transfer`, at any time after this message.
struct EnqueueWrite {
  static constexpr Opcode kOpcode = 34;
  CommandHeader command;
  BufferId buffer;
  BufferRect rect;
  TransferId transfer; ///< 0: inline
  ConstBytes data;

  static constexpr auto fields() {
    using T = EnqueueWrite;
    return std::tuple(field("command", &T::command), field("buffer", &T::buffer), field("rect", &T::rect), field("transfer", &T::transfer),
                      field("data", &T::data, kMaxInlineBytes));
  }
};

struct EnqueueCopy {
  static constexpr Opcode kOpcode = 35;
  CommandHeader command;
  BufferId source;
  BufferId destination;
  BufferRect source_rect;
  BufferRect destination_rect; ///< the same width, height and depth

  static constexpr auto fields() {
    using T = EnqueueCopy;
    return std::tuple(field("command", &T::command), field("source", &T::source), field("destination", &T::destination),
                      field("source_rect", &T::source_rect), field("destination_rect", &T::destination_rect));
  }
};

struct EnqueueFill {
  static constexpr Opcode kOpcode = 36;
  CommandHeader command;
  BufferId buffer;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  ConstBytes pattern; ///< 1, 2, 4, ... 128 bytes

  static constexpr auto fields() {
    using T = EnqueueFill;
    return std::tuple(field("command", &T::command), field("buffer", &T::buffer), field("offset", &T::offset),
                      field("size_bytes", &T::size_bytes), field("pattern", &T::pattern, kMaxFillPatternBytes));
  }
};

/// Completes when its wait list has; with an empty list, when everything enqueued before it has.
struct EnqueueMarker {
  static constexpr Opcode kOpcode = 37;
  CommandHeader command;
  bool barrier = false; ///< later commands of the queue wait for it
  static constexpr auto fields() {
    return std::tuple(field("command", &EnqueueMarker::command), field("barrier", &EnqueueMarker::barrier));
  }
};

/// Answered by Finished when everything enqueued before in this queue is complete.
struct Finish {
  static constexpr Opcode kOpcode = 38;
  QueueId queue;
  RequestId request;
  static constexpr auto fields() { return std::tuple(field("queue", &Finish::queue), field("request", &Finish::request)); }
};

struct CompletionTimes {
  std::uint64_t submitted_ns = 0; ///< the server's device clock: handed to the device
  std::uint64_t started_ns = 0;
  std::uint64_t ended_ns = 0;
  static constexpr auto fields() {
    using T = CompletionTimes;
    return std::tuple(field("submitted_ns", &T::submitted_ns), field("started_ns", &T::started_ns), field("ended_ns", &T::ended_ns));
  }
};

struct Completion {
  EventId event;
  std::int32_t status = 0;              ///< CL_COMPLETE or a negative error
  std::optional<CompletionTimes> times; ///< of queues with profiling
  static constexpr auto fields() {
    using T = Completion;
    return std::tuple(field("event", &T::event), field("status", &T::status), field("times", &T::times));
  }
};

/// Server to client: in the order in which the commands completed.
struct Completions {
  static constexpr Opcode kOpcode = 39;
  std::vector<Completion> completions;
  static constexpr auto fields() { return std::tuple(field("completions", &Completions::completions, kMaxCompletionsPerMessage)); }
};

/// Server to client: ends every EnqueueRead. The bytes are in `data` or came before it as bulk frames.
struct ReadResult {
  static constexpr Opcode kOpcode = 40;
  TransferId transfer;
  std::int32_t status = 0;
  std::int32_t queue_status = 0; ///< a failure of this queue that nobody could see yet; reported once
  ConstBytes data;
  static constexpr auto fields() {
    using T = ReadResult;
    return std::tuple(field("transfer", &T::transfer), field("status", &T::status), field("queue_status", &T::queue_status),
                      field("data", &T::data, kMaxInlineBytes));
  }
};

struct Finished {
  static constexpr Opcode kOpcode = 41;
  RequestId request;
  std::int32_t queue_status = 0; ///< as in ReadResult
  static constexpr auto fields() {
    return std::tuple(field("request", &Finished::request), field("queue_status", &Finished::queue_status));
  }
};

} // namespace farcl::protocol
