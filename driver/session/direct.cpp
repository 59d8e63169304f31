// Buffers in shared memory: what is known of them, and transfers that go past the server.
#include "driver/session/session.hpp"

#include <algorithm>
#include <sys/mman.h>

namespace farcl::driver {

namespace {
constexpr std::uintptr_t kPageBytes = 4096;
/// From here on one call that fills the page tables is cheaper than a fault for each page.
constexpr std::uint64_t kPopulateBytes = 256u << 10;
constexpr int kPopulateWrite = 23; ///< MADV_POPULATE_WRITE, of Linux 5.14; older ones refuse it, and every page faults

bool all_complete(WaitList events) {
  return std::all_of(events.events, events.events + events.count,
                     [](cl_event event) { return Event::from(event)->status() == CL_COMPLETE; });
}

void populate(std::byte* at, std::uint64_t size_bytes) {
  auto* const first = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(at) / kPageBytes * kPageBytes);
  (void)::madvise(first, size_bytes + static_cast<std::size_t>(at - first), kPopulateWrite);
}
} // namespace

std::shared_ptr<Placement> ServerSession::new_placement(protocol::BufferId buffer, std::uint64_t size_bytes) {
  if (!buffers_ || size_bytes < protocol::kSharedBufferBytes || dead()) {
    return nullptr;
  }
  auto placement = std::make_shared<Placement>(size_bytes);
  state_.lock()->placements.insert(buffer, placement);
  return placement;
}

void ServerSession::share_placement(protocol::BufferId sub_buffer, const std::shared_ptr<Placement>& placement) {
  if (placement != nullptr && !dead()) {
    state_.lock()->placements.insert(sub_buffer, placement);
  }
}

Status ServerSession::handle(protocol::BufferPlaced&& message) {
  Access state = state_.lock();
  const auto* found = state->placements.find(message.buffer);
  if (found == nullptr) {
    return {}; // it has been released meanwhile
  }
  Placement& placement = **found;
  if (placement.memory() != nullptr || message.size_bytes != placement.size_bytes() || message.size_bytes > buffers_.size_bytes() ||
      message.offset > buffers_.size_bytes() - message.size_bytes) {
    return fail(ErrorCode::kInvalid, "a buffer that does not lie in the shared memory");
  }
  placement.place(buffers_.data() + message.offset);
  return {};
}

// What has arrived and not been read may say that a buffer is idle by now. Costs no system call.
void ServerSession::look_for_progress(Access& state) {
  if (state->reader_present || !transport_ || !transport_->looks_are_free()) {
    return;
  }
  state->reader_present = true;
  state.lock().unlock();
  (void)read_some();
  state.lock().lock();
  Wait wait;
  wait.is_reader = true;
  leave(state, wait);
}

ServerSession::DirectAccess ServerSession::try_direct(Placement& placement, const HostBox& box, Direction direction, WaitList wait_list) {
  if (dead() || !all_complete(wait_list)) {
    return {};
  }
  Access state = state_.lock();
  if (placement.memory() == nullptr || !placement.is_idle()) {
    look_for_progress(state);
  }
  if (dead() || placement.memory() == nullptr || placement.copying || !placement.is_idle() || !host_is_free(*state, box, direction)) {
    return {};
  }
  placement.copying = true;
  return DirectAccess(this, &placement);
}

// Transfers that were enqueued before and have not ended may still write to the program's memory, or read from it.
bool ServerSession::host_is_free(State& state, const HostBox& box, Direction direction) {
  bool free = true;
  state.reads.for_each([&](protocol::TransferId, IncomingRead* read) { free = free && !read->box().overlaps(box); });
  return free && (direction == Direction::kToBuffer ||
                  (state.outgoing.empty() && state.sender.acknowledged_sequence() >= state.last_bulk_sequence));
}

void ServerSession::DirectAccess::end() noexcept {
  if (placement_ != nullptr) {
    Access state = session_->state_.lock();
    placement_->copying = false;
    placement_ = nullptr;
    if (state->waiting_for_copies != 0) {
      session_->copies_ended_.notify_all();
    }
  }
}

std::byte* ServerSession::DirectAccess::memory(std::uint64_t offset, std::uint64_t size_bytes) const {
  std::byte* const at = placement_->memory() + offset;
  if (!placement_->populated && size_bytes >= kPopulateBytes) {
    populate(at, size_bytes);
    placement_->populated = size_bytes == placement_->size_bytes(); // only who copies looks at it
  }
  return at;
}

bool ServerSession::queue_is_answered(CommandQueue& queue) {
  const Access state = state_.lock();
  return queue.progress_->answered >= queue.progress_->enqueued;
}

bool ServerSession::is_idle_behind(Placement& placement, CommandQueue& queue, WaitList wait_list) {
  const Access state = state_.lock();
  return placement.memory() != nullptr && placement.is_idle(queue.progress_.get()) && all_complete(wait_list);
}

std::byte* ServerSession::placed_memory(const Placement& placement) {
  const Access state = state_.lock();
  return placement.memory();
}

void ServerSession::leave_checkpoint(CommandQueue& queue) {
  if (!dead()) {
    Access state = state_.lock();
    if (queue.open_checkpoints_ == 0) {
      add_checkpoint(*state, queue);
    }
  }
}

} // namespace farcl::driver
