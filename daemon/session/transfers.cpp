#include "daemon/session/transfers.hpp"

#include "daemon/device/host_memory.hpp"

#include <string>

namespace farcl::daemon {

namespace {
std::string name_of(protocol::TransferId id) { return "transfer " + std::to_string(id.value); }
} // namespace

Status Transfers::expect(protocol::TransferId id, Command& command, std::uint64_t size_bytes, MutableBytes destination) {
  if (transfers_.insert(id, Transfer{&command, size_bytes, 0, destination, Mode::kUndecided}) == nullptr) {
    return fail(ErrorCode::kInvalid, name_of(id) + " is in use");
  }
  command.awaits_bytes = true;
  scheduler_.hold(command);
  return {};
}

Status Transfers::expect_unwanted(protocol::TransferId id, std::uint64_t size_bytes) {
  if (transfers_.insert(id, Transfer{nullptr, size_bytes, 0, {}, Mode::kDiscarded}) == nullptr) {
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

Result<MutableBytes> Transfers::destination(const protocol::BulkHeader& chunk, std::size_t size) {
  Transfer* transfer = transfers_.find(chunk.transfer);
  if (transfer == nullptr) {
    return fail(ErrorCode::kInvalid, "bytes for " + name_of(chunk.transfer) + ", which was not announced");
  }
  if (chunk.offset != transfer->received_bytes || size > transfer->size_bytes - transfer->received_bytes) {
    return fail(ErrorCode::kInvalid, name_of(chunk.transfer) + ": a chunk out of order or beyond its end");
  }
  if (transfer->mode == Mode::kUndecided) {
    decide(*transfer);
  }
  if (transfer->mode == Mode::kDiscarded) {
    discarded_.resize(std::max(discarded_.size(), size)); // at most one frame: kMaxFramePayloadBytes
    return MutableBytes(discarded_.data(), size);
  }
  std::byte* base = transfer->mode == Mode::kDirect ? transfer->direct.data() : transfer->command->staging->host_pointer();
  return MutableBytes(base + chunk.offset, size);
}

Status Transfers::arrived(const protocol::BulkHeader& chunk, std::size_t size) {
  Transfer* transfer = transfers_.find(chunk.transfer);
  FARCL_ASSERT(transfer != nullptr);
  transfer->received_bytes += size;
  if (transfer->received_bytes == transfer->size_bytes) {
    const Transfer done = *transfer;
    transfers_.erase(chunk.transfer);
    finish(chunk.transfer, done);
  }
  return {};
}

void Transfers::finish(protocol::TransferId, Transfer transfer) {
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
