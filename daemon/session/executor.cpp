#include "daemon/session/executor.hpp"

#include "daemon/session/objects.hpp"
#include "farcl/base/trace.hpp"

#include <utility>

namespace farcl::daemon {

void Executor::start(Command& command) {
  std::visit([&](auto& work) { start_work(command, work); }, command.work);
}

template <class Operation>
void Executor::submit(Command& command, const Operation& operation) {
  Queue& queue = *command.queue;
  if (queue.profiling) {
    command.times.submitted_ns = device_clock_ns();
  }
  const auto result = queue.device->submit(DeviceCommand(operation), reinterpret_cast<Token>(&command), queue.profiling, sink_);
  if (result) {
    finish(command, *result);
  }
}

void Executor::on_device_result(Token token, const DeviceResult& result) {
  auto& command = *reinterpret_cast<Command*>(token);
  if (!streams_->on_device_result(command, result)) {
    finish(command, result);
  }
}

void Executor::finish(Command& command, const DeviceResult& result) {
  command.times.started_ns = result.started_ns;
  command.times.ended_ns = result.ended_ns;
  scheduler_->complete(command, result.status);
}

/// Of commands that take no time on the device, or whose work is done when their turn comes.
void Executor::complete_now(Command& command) {
  if (command.queue != nullptr && command.queue->profiling) {
    command.times.ended_ns = device_clock_ns();
    command.times.started_ns = command.times.started_ns == 0 ? command.times.ended_ns : command.times.started_ns;
    command.times.submitted_ns = command.times.started_ns;
  }
  scheduler_->complete(command, CL_COMPLETE);
}

void Executor::start_work(Command& command, MarkerWork&) { complete_now(command); }
void Executor::start_work(Command& command, FinishWork&) { complete_now(command); }
void Executor::start_work(Command& command, InitialDataWork&) { complete_now(command); }
void Executor::start_work(Command&, UserEventWork&) {
  FARCL_ASSERT(false); // held until the client sets it
}

void Executor::start_work(Command& command, ReadWork& work) {
  if (work.size_bytes > protocol::kMaxInlineBytes) {
    if (command.queue->profiling) {
      command.times.submitted_ns = device_clock_ns();
    }
    streams_->start(command);
    return;
  }
  command.reserve_values(work.size_bytes);
  work.read.into = MutableBytes(command.value_bytes(), work.size_bytes);
  submit(command, work.read);
}

void Executor::start_work(Command& command, WriteWork& work) {
  if (work.write.from.empty()) {
    complete_now(command); // received in place
  } else {
    submit(command, work.write);
  }
}

void Executor::completed(Command& command, cl_int status) {
  if (auto* initial = std::get_if<InitialDataWork>(&command.work); initial != nullptr) {
    command.buffers.front()->initial_data = nullptr;
    if (initial->placed && status >= 0) {
      outbox_.send(protocol::BufferPlaced{initial->buffer, *initial->placed, command.buffers.front()->size_bytes});
    }
    return;
  }
  if (command.queue == nullptr) {
    return; // a user event: the client knows what it set
  }
  reply(command, status);
  if (command.notify) {
    protocol::Completion completion{command.event, status, std::nullopt};
    if (command.queue->profiling) {
      completion.times = command.times;
    }
    outbox_.complete(std::move(completion));
  }
}

cl_int Executor::take_unseen(Queue& queue) { return std::exchange(queue.unseen_failure, CL_SUCCESS); }

void Executor::reply(Command& command, cl_int status) {
  Queue& queue = *command.queue;
  if (const auto* read = std::get_if<ReadWork>(&command.work); read != nullptr) {
    const bool has_data = status >= 0 && read->size_bytes <= protocol::kMaxInlineBytes;
    outbox_.send(protocol::ReadResult{read->transfer, status, take_unseen(queue),
                                      has_data ? ConstBytes(command.value_bytes(), read->size_bytes) : ConstBytes()});
  } else if (const auto* finish = std::get_if<FinishWork>(&command.work); finish != nullptr) {
    const cl_int seen = take_unseen(queue);
    outbox_.send(protocol::Finished{finish->request, status < 0 && seen == CL_SUCCESS ? status : seen});
    trace(TracePoint::kReplied);
  } else if (status < 0 && !command.notify) {
    queue.unseen_failure = CL_OUT_OF_RESOURCES;
  }
}

} // namespace farcl::daemon
