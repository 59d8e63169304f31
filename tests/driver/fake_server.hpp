// A server in the test's own process that really does the work: buffers have contents, the kernel "bump" adds 1 to every word, wait lists
// and user events hold commands back. Its session outlives its connections, as a real one does, so that tests can cut them anywhere.
//
// Threads: one per server, which owns all tables. Tests talk to it through the atomics and the lock below.
#pragma once

#include "fake_streams.hpp"
#include "farcl/base/guarded.hpp"
#include "farcl/net/connect.hpp"
#include "farcl/net/link.hpp"
#include "farcl/net/loopback.hpp"
#include "farcl/protocol/dispatch.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace farcl::test {

/// What each new connection is like. Called with 0, 1, 2, ...; both directions.
struct ConnectionPlan {
  net::LoopbackFaults to_server;
  net::LoopbackFaults to_client;
};

class FakeServer final : private net::FrameSink {
public:
  struct Options {
    protocol::SessionLimits limits{.memory_bytes = 1u << 30};
    std::function<ConnectionPlan(unsigned connection)> plan = [](unsigned) { return ConnectionPlan{}; };
    /// The same for further connections for bulk, counted on their own.
    std::function<ConnectionPlan(unsigned connection)> stream_plan = [](unsigned) { return ConnectionPlan{}; };
    unsigned devices = 1;
  };
  FakeServer() : FakeServer(Options{}) {}
  explicit FakeServer(Options options);
  ~FakeServer() override;

  [[nodiscard]] net::Connector connector();

  // --- Faults --------------------------------------------------------------------------------------------------------------------
  enum class Reconnect { kWelcome, kUnknownSession, kObituary, kRefused, kNoAnswer };
  void on_reconnect(Reconnect behaviour, std::string text = {});
  void cut();                                ///< the connection, now
  std::atomic<bool> silent{false};           ///< reads and says nothing any more
  std::atomic<std::int32_t> fail_reads{0};   ///< status of reads that follow
  std::atomic<std::int32_t> fail_kernels{0}; ///< status of kernels that follow
  std::atomic<std::int32_t> hidden{0};       ///< reported once by the next Finished or ReadResult

  // --- What happened ---------------------------------------------------------------------------------------------------------------
  std::atomic<std::uint64_t> kernels_run{0};
  std::atomic<std::uint64_t> connections{0};
  [[nodiscard]] FakeStreams& streams() { return streams_; }
  std::atomic<std::uint64_t> events_known{0}; ///< commands with an event and user events, not released
  std::atomic<std::uint64_t> objects_alive{0};
  std::atomic<std::uint64_t> leaving{0}; ///< how often the client said so
  std::atomic<std::uint64_t> commands_pending{0};
  std::shared_ptr<net::LoopbackCounters> to_server = std::make_shared<net::LoopbackCounters>();
  std::shared_ptr<net::LoopbackCounters> to_client = std::make_shared<net::LoopbackCounters>();
  void say(const std::function<void(net::FrameSender&)>& appends); ///< on the server's thread

private:
  friend class protocol::Dispatcher<protocol::ClientMessages, FakeServer>;
  struct Buffer {
    std::shared_ptr<ByteVector> bytes;
    std::uint64_t origin = 0;
    std::uint64_t size = 0;
  };
  struct Command {
    protocol::CommandHeader header;
    std::function<std::int32_t(std::int32_t status)> run; ///< gets the wait list's status, returns the command's
    protocol::TransferId needs;                           ///< bulk that must have come whole
    bool is_finish = false;
    std::uint64_t order = 0;
    bool marker = false;
    bool barrier = false;
  };
  struct Incoming {
    std::uint64_t size = 0;
    ByteVector bytes;
    std::uint64_t received = 0;
  };
  struct Shared {
    net::TransportPtr waiting;                           ///< a connection that the thread has to take over
    std::optional<std::uint64_t> resume;                 ///< a client that comes back, and what it has received
    std::optional<std::optional<std::uint64_t>> resumed; ///< the answer: what the server has received, or none
    Reconnect reconnect = Reconnect::kWelcome;
    std::string text;
    std::vector<std::function<void(net::FrameSender&)>> appends;
  };

  Result<net::Connection> connect(const protocol::Hello& hello);
  void main();
  void serve();
  void resume(std::uint64_t client_received);
  void take_chunks();
  void settle();
  bool is_ready(const Command& command, std::int32_t& status) const;
  void run(Command command, std::int32_t status);
  void enqueue(protocol::CommandHeader header, std::function<std::int32_t(std::int32_t)> run, protocol::TransferId needs = {});
  void expect(protocol::TransferId transfer, std::uint64_t size);
  MutableBytes range(protocol::BufferId buffer);

  Status on_message(protocol::Opcode opcode, ConstBytes payload) override;
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader& chunk, std::size_t size) override;
  Status on_bulk(const protocol::BulkHeader& chunk, std::size_t size) override;
  Status on_acknowledged(std::uint64_t sequence) override { return sender_.on_acknowledged(sequence); }
  void on_ping(std::uint64_t token) override { sender_.append_pong(token); }
  void on_pong(std::uint64_t) override {}

  Status handle(protocol::Goodbye&&) { return {}; }
  Status handle(protocol::Leaving&&) {
    ++leaving;
    return {};
  }
  Status handle(protocol::CreateContext&&);
  Status handle(protocol::CreateQueue&&);
  Status handle(protocol::ReleaseObject&&);
  Status handle(protocol::ReleaseEvents&&);
  Status handle(protocol::CreateUserEvent&&);
  Status handle(protocol::SetUserEventStatus&&);
  Status handle(protocol::CreateBuffer&&);
  Status handle(protocol::CreateSubBuffer&&);
  Status handle(protocol::BuildProgram&&);
  Status handle(protocol::GetProgramBinary&&);
  Status handle(protocol::EnqueueKernel&&);
  Status handle(protocol::EnqueueRead&&);
  Status handle(protocol::EnqueueWrite&&);
  Status handle(protocol::EnqueueCopy&&);
  Status handle(protocol::EnqueueFill&&);
  Status handle(protocol::EnqueueMarker&&);
  Status handle(protocol::Finish&&);

  const Options options_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> cut_{false};
  Guarded<Shared> shared_;
  net::Waker waker_;
  FakeStreams streams_{[this] { waker_.notify(); }};

  // The thread's own.
  net::FrameReceiver receiver_;
  net::FrameSender sender_{receiver_.received_sequence()};
  net::TransportPtr transport_;
  std::map<protocol::BufferId, Buffer> buffers_;
  std::map<protocol::QueueId, protocol::CreateQueue> queues_;
  std::map<protocol::EventId, std::int32_t> events_; ///< 1: not complete
  std::map<protocol::TransferId, Incoming> incoming_;
  std::vector<FakeStreams::Chunk> chunks_; ///< whose transfer has not been announced
  std::deque<Command> commands_;
  std::uint64_t clock_ns_ = 0;
  std::thread thread_;
};

/// Puts fake servers in place of the network, one per entry of `config_servers`, and connects.
/// Sessions live for ever, so servers are kept until the program ends.
FakeServer& start_server(FakeServer::Options options = {});
std::vector<FakeServer*> start_servers(std::vector<FakeServer::Options> options, std::int64_t resume_seconds = 2);

} // namespace farcl::test
