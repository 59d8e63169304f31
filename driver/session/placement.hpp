// Which buffers lie in memory that the server shares with this process, and whether they may be touched now.
//
// The program's thread may copy into or out of such a buffer itself, without the server, while nothing uses it: every command that does
// is known to be complete. Everything here is under the session's state lock, except the copying itself, which `copying` announces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace farcl::driver {

/// How far a queue is, as far as this side knows. Outlives its queue: buffers refer to it.
struct QueueProgress {
  std::uint64_t enqueued = 0;
  std::uint64_t complete = 0; ///< every command up to this one is complete
  std::uint64_t answered = 0; ///< and the server has told of failures up to this one: a completion of an event does not

  void reach(std::uint64_t command) noexcept { complete = std::max(complete, command); }
  void reach_answered(std::uint64_t command) noexcept {
    reach(command);
    answered = std::max(answered, command);
  }
};

/// A buffer of at least kSharedBufferBytes; its sub-buffers share it.
class Placement {
public:
  explicit Placement(std::uint64_t size_bytes) : size_bytes_(size_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// Null: the buffer lies elsewhere, or the server has not said yet.
  [[nodiscard]] std::byte* memory() const noexcept { return memory_; }
  void place(std::byte* memory) noexcept { memory_ = memory; }

  /// The command of this queue that was enqueued last uses the buffer.
  void use(const std::shared_ptr<QueueProgress>& queue) {
    const auto found = std::find_if(uses_.begin(), uses_.end(), [&](const Use& use) { return use.queue == queue; });
    if (found != uses_.end()) {
      found->command = queue->enqueued;
      return;
    }
    std::erase_if(uses_, [](const Use& use) { return use.is_complete(); });
    uses_.push_back({queue, queue->enqueued});
  }
  /// Nothing uses it, apart perhaps from commands of `except`.
  [[nodiscard]] bool is_idle(const QueueProgress* except = nullptr) const noexcept {
    return std::all_of(uses_.begin(), uses_.end(), [&](const Use& use) { return use.queue.get() == except || use.is_complete(); });
  }

  bool copying = false;   ///< a thread of the program copies, outside the lock: commands that use the buffer wait
  bool populated = false; ///< this process has touched all of it: its page tables are filled

private:
  struct Use {
    std::shared_ptr<QueueProgress> queue;
    std::uint64_t command = 0;
    [[nodiscard]] bool is_complete() const noexcept { return command <= queue->complete; }
  };
  const std::uint64_t size_bytes_;
  std::byte* memory_ = nullptr;
  std::vector<Use> uses_; ///< few
};

} // namespace farcl::driver
