// A server in the test's own process, behind a loopback transport: it answers what the driver's API layer needs and does what the
// test scripts. No commands run; buffers hold zeros.
//
// Threads: one per server, owned by the object; scripts are set by the test's thread under the lock.
#pragma once

#include "farcl/base/guarded.hpp"
#include "farcl/net/connect.hpp"
#include "farcl/net/link.hpp"
#include "farcl/protocol/dispatch.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <thread>
#include <vector>

namespace farcl::test {

struct Script {
  std::function<protocol::BuildDone(const protocol::BuildProgram&)> on_build;
  std::function<bool(const protocol::BuildProgram&)> wants_source; ///< answers SourceWanted
  std::int32_t read_status = 0;                                    ///< of the reads that follow
  std::int32_t finish_status = 0;                                  ///< of the next Finish
  ByteVector binary;                                               ///< what GetProgramBinary gives
};

class ScriptedServer final : private net::FrameSink {
public:
  explicit ScriptedServer(protocol::ServerInfo info);
  ~ScriptedServer() override;

  /// For Runtime::reset_for_tests: the first connection succeeds, later ones are refused.
  [[nodiscard]] net::Connector connector();
  [[nodiscard]] Guarded<Script>& script() noexcept { return script_; }
  /// Cuts the connection; the driver's reconnect is refused, so the server is dead for it.
  void kill();

private:
  friend class protocol::Dispatcher<protocol::ClientMessages, ScriptedServer>;
  struct Waiting {
    protocol::CommandHeader command;
    std::function<void(std::int32_t status)> complete;
  };

  void main();
  void command(const protocol::CommandHeader& header, std::function<void(std::int32_t)> complete = {});
  void settle();
  void finish_event(protocol::EventId event, std::int32_t status, bool notify);

  // FrameSink
  Status on_message(protocol::Opcode opcode, ConstBytes payload) override;
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader& chunk, std::size_t size) override;
  Status on_bulk(const protocol::BulkHeader&, std::size_t) override { return {}; }
  Status on_acknowledged(std::uint64_t sequence) override { return sender_.on_acknowledged(sequence); }
  void on_ping(std::uint64_t token) override { sender_.append_pong(token); }
  void on_pong(std::uint64_t) override {}

  template <class Message>
  Status handle(Message&&) { // contexts, queues, buffers and the rest need no answer
    return {};
  }
  Status handle(protocol::SetUserEventStatus&& message);
  Status handle(protocol::BuildProgram&& message);
  Status handle(protocol::GetProgramBinary&& message);
  Status handle(protocol::EnqueueKernel&& message);
  Status handle(protocol::EnqueueRead&& message);
  Status handle(protocol::EnqueueWrite&& message);
  Status handle(protocol::EnqueueCopy&& message);
  Status handle(protocol::EnqueueFill&& message);
  Status handle(protocol::EnqueueMarker&& message);
  Status handle(protocol::Finish&& message);

  const protocol::ServerInfo info_;
  net::FrameReceiver receiver_;
  net::FrameSender sender_{receiver_.received_sequence()};
  net::TransportPtr client_end_;
  net::TransportPtr server_end_;
  net::Waker waker_;
  std::atomic<bool> stop_{false};
  Guarded<Script> script_;
  std::map<protocol::EventId, std::int32_t> events_;
  std::vector<Waiting> waiting_;
  ByteVector scratch_;
  std::thread thread_;
};

} // namespace farcl::test
