// SessionState: everything a session owns, for its handlers. Session thread only.
#pragma once

#include "daemon/device/shared_arena.hpp"
#include "daemon/session/budget.hpp"
#include "daemon/session/bulk_streams.hpp"
#include "daemon/session/executor.hpp"
#include "daemon/session/id_table.hpp"
#include "daemon/session/objects.hpp"
#include "daemon/session/outbox.hpp"
#include "daemon/session/read_streams.hpp"
#include "daemon/session/transfers.hpp"
#include "farcl/protocol/limits.hpp"

#include <functional>
#include <string>

namespace farcl::daemon {

/// What a session is made of; see SessionConfig for where it comes from.
struct SessionParts {
  protocol::SessionLimits limits;
  std::vector<Device*> devices; ///< not empty; they outlive the session
  std::string host_name;
  std::string version;
  bool insecure = false;
};

/// A build that runs: its reply waits for one result per builder.
struct PendingBuild {
  protocol::RequestId request;
  std::shared_ptr<Program> program;
  protocol::BuildStage stage = protocol::BuildStage::kBuild;
  std::size_t missing = 0;
  std::vector<std::pair<ProgramBuilder*, BuildResult>> results;
  Budget::Share share;
};

/// A build's result on its way to the session thread.
struct BuildArrival {
  std::uint64_t build = 0;
  ProgramBuilder* builder = nullptr;
  BuildResult result;
};

struct SessionState {
  SessionState(SessionParts from, net::FrameSender& sender, CompletionSink& sink, BulkStreams::Hooks stream_hooks,
               std::function<void(BuildArrival)> on_built)
      : parts(std::move(from)), memory(parts.limits.memory_bytes), staging(parts.limits.memory_bytes / kStagingShare), outbox(sender),
        executor(outbox, sink),
        scheduler(executor, SchedulerLimits{parts.limits.commands_in_flight, parts.limits.objects, SchedulerLimits{}.edges}),
        bulk_streams(std::move(stream_hooks)), streams(scheduler, sender, bulk_streams, sink), transfers(scheduler, staging),
        post_built(std::move(on_built)) {
    executor.connect(scheduler, streams);
  }

  /// Bytes that wait for their turn (staged writes, arguments of waiting commands, sources) may take this part of the memory
  /// limit in addition to the buffers.
  static constexpr std::uint64_t kStagingShare = 2;

  SessionParts parts;
  std::shared_ptr<SharedArena> shared; ///< memory that the client reaches too; null: none
  Budget memory;
  Budget staging;
  Outbox outbox;
  Executor executor;
  Scheduler scheduler;
  BulkStreams bulk_streams;
  ReadStreams streams;
  Transfers transfers;

  IdTable<protocol::ContextId, Context> contexts;
  IdTable<protocol::QueueId, std::shared_ptr<Queue>> queues;
  IdTable<protocol::BufferId, std::shared_ptr<Buffer>> buffers;
  IdTable<protocol::ProgramId, std::shared_ptr<Program>> programs;

  std::function<void(BuildArrival)> post_built;               ///< any thread
  std::vector<std::pair<std::uint64_t, PendingBuild>> builds; ///< few
  std::uint64_t next_build = 1;
  bool goodbye = false;
  bool leaving = false; ///< the client will not come back when its connection has closed

  [[nodiscard]] std::size_t objects() const noexcept {
    return contexts.size() + queues.size() + buffers.size() + programs.size() + scheduler.events();
  }
};

} // namespace farcl::daemon
