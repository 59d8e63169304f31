// Executor: starts commands when the scheduler says so and tells the client how they ended. Session thread only.
#pragma once

#include "daemon/scheduler/scheduler.hpp"
#include "daemon/session/outbox.hpp"
#include "daemon/session/read_streams.hpp"

namespace farcl::daemon {

class Executor final : public Runner {
public:
  /// `sink` gets what devices cannot answer at once; it brings each result back to on_device_result.
  Executor(Outbox& outbox, CompletionSink& sink) : outbox_(outbox), sink_(sink) {}
  /// The scheduler and the executor know each other.
  void connect(Scheduler& scheduler, ReadStreams& streams) {
    scheduler_ = &scheduler;
    streams_ = &streams;
  }

  void start(Command& command) override;
  void completed(Command& command, cl_int status) override;
  void on_device_result(Token token, const DeviceResult& result);

private:
  void start_work(Command& command, MarkerWork&);
  void start_work(Command& command, UserEventWork&);
  void start_work(Command& command, FinishWork&);
  void start_work(Command& command, InitialDataWork&);
  void start_work(Command& command, ReadWork& work);
  void start_work(Command& command, WriteWork& work);
  void start_work(Command& command, const Launch& work) { submit(command, work); }
  void start_work(Command& command, const Copy& work) { submit(command, work); }
  void start_work(Command& command, const Fill& work) { submit(command, work); }

  template <class Operation>
  void submit(Command& command, const Operation& operation);
  void complete_now(Command& command);
  void finish(Command& command, const DeviceResult& result);
  void reply(Command& command, cl_int status);
  /// A failure of this queue that nobody saw; it counts as seen from now on.
  [[nodiscard]] static cl_int take_unseen(Queue& queue);

  Outbox& outbox_;
  CompletionSink& sink_;
  Scheduler* scheduler_ = nullptr;
  ReadStreams* streams_ = nullptr;
};

} // namespace farcl::daemon
