#include "daemon/session/transfers.hpp"

#include "daemon/device/host_memory.hpp"

#include <cstring>
#include <string>

namespace farcl::daemon {

namespace {
std::string name_of(protocol::TransferId id) { return "transfer " + std::to_string(id.value); }
} // namespace

Status Transfers::expect(protocol::TransferId id, Command& command, std::uint64_t size_bytes, MutableBytes destination) {
  Transfer transfer;
  transfer.command = &command;
  transfer.size_bytes = size_bytes;
  transfer.direct = destination;
  if (transfers_.insert(id, std::move(transfer)) == nullptr) {
    return fail(ErrorCode::kInvalid, name_of(id) + " is in use");
  }
  command.awaits_bytes = true;
  scheduler_.hold(command);
  return {};
}

Status Transfers::expect_unwanted(protocol::TransferId id, std::uint64_t size_bytes) {
  Transfer transfer;
  transfer.size_bytes = size_bytes;
  transfer.mode = Mode::kDiscarded;
  if (transfers_.insert(id, std::move(transfer)) == nullptr) {
    return fail(ErrorCode::kInvalid, name_of(id) + " is in use");
  }
  return {};
}

void Transfers::decide(Transfer& transfer) {
  Command& command = *transfer.command;
  if (command.failure != CL_SUCCESS) {
    transfer.mode = Mode::kDiscarded;
  } else if (!transfer.direct.empty() && command.waits_for_bytes_only()) {
    transfer.mode = Mode::kDirect;
    command.times.started_ns = command.queue != nullptr && command.queue->profiling ? device_clock_ns() : 0;
  } else {
    stage(transfer);
  }
}

void Transfers::stage(Transfer& transfer) {
  Command& command = *transfer.command;
  command.share = staging_.take(transfer.size_bytes);
  auto memory = command.share ? HostMemory::allocate(transfer.size_bytes) : Result<MemoryPtr>(fail(ErrorCode::kLimit, ""));
  if (!memory) {
    command.failure = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    transfer.mode = Mode::kDiscarded;
    return;
  }
  command.staging = std::move(*memory);
  transfer.mode = Mode::kStaged;
}

Status Transfers::check(const protocol::BulkHeader& chunk, const Transfer& transfer, std::size_t size) {
  const bool beyond = chunk.offset > transfer.size_bytes || size > transfer.size_bytes - chunk.offset;
  if (beyond || transfer.received.overlaps(chunk.offset, size)) {
    return fail(ErrorCode::kInvalid, name_of(chunk.transfer) + ": a chunk that came before or lies beyond its end");
  }
  return {};
}

/// Where the chunk belongs. Of a checked one.
MutableBytes Transfers::place(const protocol::BulkHeader& chunk, Transfer& transfer, std::size_t size) {
  if (transfer.mode == Mode::kUndecided) {
    decide(transfer);
  }
  if (transfer.mode == Mode::kDiscarded) {
    discarded_.resize(std::max(discarded_.size(), size)); // at most one frame: kMaxFramePayloadBytes
    return MutableBytes(discarded_.data(), size);
  }
  std::byte* base = transfer.mode == Mode::kDirect ? transfer.direct.data() : transfer.command->staging->host_pointer();
  return MutableBytes(base + chunk.offset, size);
}

Status Transfers::add(const protocol::BulkHeader& chunk, Transfer& transfer, std::size_t size) {
  if (!transfer.received.add(chunk.offset, size)) {
    return fail(ErrorCode::kInvalid, name_of(chunk.transfer) + " comes in too many pieces");
  }
  if (transfer.received.bytes() == transfer.size_bytes) {
    const Transfer done = std::move(transfer);
    transfers_.erase(chunk.transfer);
    finish(done);
  }
  return {};
}

Result<MutableBytes> Transfers::destination(const protocol::BulkHeader& chunk, std::size_t size) {
  Transfer* transfer = transfers_.find(chunk.transfer);
  if (transfer == nullptr) {
    return fail(ErrorCode::kInvalid, "bytes for " + name_of(chunk.transfer) + ", which was not announced");
  }
  if (auto status = check(chunk, *transfer, size); !status) {
    return pass_on(std::move(status));
  }
  transfer->pending_offset = chunk.offset;
  transfer->pending_size = size;
  return place(chunk, *transfer, size);
}

Status Transfers::arrived(const protocol::BulkHeader& chunk, std::size_t size) {
  Transfer* transfer = transfers_.find(chunk.transfer);
  FARCL_ASSERT(transfer != nullptr); // bytes that are being received are missing, and so is its end
  transfer->pending_size = 0;
  return add(chunk, *transfer, size);
}

Result<bool> Transfers::take(const protocol::BulkHeader& chunk, ConstBytes bytes) {
  Transfer* transfer = transfers_.find(chunk.transfer);
  if (transfer == nullptr) {
    return false;
  }
  if (auto status = check(chunk, *transfer, bytes.size()); !status) {
    return pass_on(std::move(status));
  }
  if (chunk.offset < transfer->pending_offset + transfer->pending_size && transfer->pending_offset < chunk.offset + bytes.size()) {
    return fail(ErrorCode::kInvalid, name_of(chunk.transfer) + ": a chunk comes on two streams at once");
  }
  const MutableBytes to = place(chunk, *transfer, bytes.size());
  std::memcpy(to.data(), bytes.data(), bytes.size());
  if (auto status = add(chunk, *transfer, bytes.size()); !status) {
    return pass_on(std::move(status));
  }
  return true;
}

void Transfers::finish(const Transfer& transfer) {
  if (transfer.command == nullptr) {
    return;
  }
  Command& command = *transfer.command;
  command.awaits_bytes = false;
  if (transfer.mode == Mode::kStaged) {
    std::get<WriteWork>(command.work).write.from = ConstBytes(command.staging->host_pointer(), transfer.size_bytes);
  }
  scheduler_.release(command);
}

} // namespace farcl::daemon
