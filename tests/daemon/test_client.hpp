// TestClient: a client that speaks to a session by hand-made messages over a loopback transport, and keeps what it hears.
#pragma once

#include "daemon/session/session.hpp"
#include "farcl/net/link.hpp"
#include "farcl/net/loopback.hpp"
#include "farcl/protocol/dispatch.hpp"
#include "farcl/protocol/print.hpp"

#include <functional>
#include <map>
#include <optional>
#include <thread>

namespace farcl::daemon::test {

using namespace std::chrono_literals;
namespace p = protocol;

/// What the client has heard. Reads: the data of inline results and of bulk, joined.
class TestClient final : public net::FrameSink {
public:
  explicit TestClient(Session& session) : session_(session) {}

  /// Makes a connection and hands its other end to the session. False if the hello was not answered with a welcome; then
  /// `reply` says what was.
  bool connect(const net::LoopbackFaults& to_session = {}, const net::LoopbackFaults& from_session = {});
  void disconnect();

  template <class Message>
  void send(const Message& message) {
    sender_.append(message);
    flush();
  }
  /// Announced elsewhere; sent in chunks.
  void send_bulk(p::TransferId transfer, std::uint64_t offset, ConstBytes bytes);
  /// Sends a frame of its own making.
  void send_raw(p::Opcode opcode, ConstBytes payload);

  /// Reads until `ready` holds; false after `limit` or when the connection is gone (lost() then).
  bool until(const std::function<bool()>& ready, std::chrono::milliseconds limit = 10s);
  /// Finish and its answer.
  std::optional<std::int32_t> finish(p::QueueId queue);
  /// A blocking read of a linear range.
  std::optional<ByteVector> read(p::QueueId queue, p::BufferId buffer, std::uint64_t offset, std::uint64_t size,
                                 std::int32_t* queue_status = nullptr);
  std::optional<std::int32_t> status_of(p::EventId event);

  [[nodiscard]] bool lost() const { return transport_ == nullptr; }

  // Handlers of server messages.
  Status handle(p::ServerInfo&& message) { return keep(info, std::move(message)); }
  Status handle(p::SessionFailed&& message) { return keep(failed, std::move(message)); }
  Status handle(p::ObjectFailed&& message) { return keep_in(object_failures, std::move(message)); }
  Status handle(p::PrintfOutput&& message);
  Status handle(p::BuildDone&& message) { return keep_in(builds, std::move(message)); }
  Status handle(p::SourceWanted&& message) { return keep_in(sources_wanted, std::move(message)); }
  Status handle(p::ProgramBinary&& message);
  Status handle(p::Completions&& message);
  Status handle(p::ReadResult&& message);
  Status handle(p::Finished&& message) { return keep_in(finished, std::move(message)); }
  Status handle(p::BufferPlaced&& message) { return keep_in(placed, std::move(message)); }

  std::optional<p::ServerInfo> info;
  std::optional<p::SessionFailed> failed;
  std::vector<p::ObjectFailed> object_failures;
  std::vector<p::BuildDone> builds;
  std::vector<p::SourceWanted> sources_wanted;
  std::vector<p::Finished> finished;
  std::vector<p::BufferPlaced> placed;
  std::vector<p::Completion> completions;
  std::map<std::uint64_t, p::ReadResult> reads; ///< by transfer; views are empty
  std::map<std::uint64_t, ByteVector> bulk;     ///< by transfer
  std::size_t bulk_bytes = 0;                   ///< that came as bulk frames with the messages
  std::optional<std::int32_t> binary_status;
  ByteVector binary;
  std::string printed;
  std::vector<std::string> order; ///< message names as they came
  std::uint64_t pongs = 0;
  std::optional<p::HelloReply> reply;
  std::shared_ptr<SharedArena> shared; ///< goes along with the first connection
  bool acknowledges = true;
  bool reconnects = false; ///< a lost connection is replaced by a whole one at once
  int connections = 0;

  net::FrameSender& sender() { return sender_; }
  [[nodiscard]] std::uint64_t received() const { return receiver_.received_sequence().load(); }
  bool flush();

private:
  template <class Optional, class Message>
  Status keep(Optional& into, Message&& message) {
    into = std::move(message);
    return {};
  }
  template <class Vector, class Message>
  Status keep_in(Vector& into, Message&& message) {
    into.push_back(std::move(message));
    return {};
  }
  Status on_message(p::Opcode opcode, ConstBytes payload) override;
  Result<MutableBytes> bulk_destination(const p::BulkHeader& chunk, std::size_t size) override;
  Status on_bulk(const p::BulkHeader&, std::size_t size) override {
    bulk_bytes += size;
    return {};
  }
  Status on_acknowledged(std::uint64_t sequence) override { return sender_.on_acknowledged(sequence); }
  void on_ping(std::uint64_t token) override { sender_.append_pong(token); }
  void on_pong(std::uint64_t) override { ++pongs; }
  bool receive();
  void lose();

  Session& session_;
  net::FrameReceiver receiver_;
  net::FrameSender sender_{receiver_.received_sequence()};
  net::TransportPtr transport_;
  bool connected_before_ = false;
  std::uint64_t next_request_ = 1'000'000;
};

} // namespace farcl::daemon::test
