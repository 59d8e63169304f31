// The further connections for bulk of a fake server: their threads, and what comes over them.
//
// Threads: a thread per stream; `take` and `send_and_wait` belong to the server's thread.
#pragma once

#include "farcl/base/guarded.hpp"
#include "farcl/net/bulk_stream.hpp"
#include "farcl/net/loopback.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace farcl::test {

class FakeStreams final : private net::BulkStream::Owner {
public:
  struct Chunk {
    net::BulkStream* stream;
    protocol::BulkHeader header;
    ByteVector bytes;
  };

  explicit FakeStreams(std::function<void()> wake) : wake_(std::move(wake)) {}
  ~FakeStreams() override;

  /// On a thread of the client: attaches `server` and reads the answer from `client`.
  [[nodiscard]] Result<net::Connection> connect(const protocol::Hello& hello, protocol::HelloReply reply, net::TransportPtr client,
                                                net::TransportPtr server);
  [[nodiscard]] bool are_connected();
  /// What has come since the last time.
  [[nodiscard]] std::vector<Chunk> take() { return std::exchange(*chunks_.lock(), {}); }
  /// Returns when the client has acknowledged all of it, or `stop` is set.
  void send_and_wait(protocol::TransferId transfer, const ByteVector& bytes, const std::atomic<bool>& stop);

  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> chunks_received{0};
  std::atomic<std::uint64_t> chunks_sent{0};

private:
  struct Entry {
    std::unique_ptr<net::BulkStream> stream;
    std::thread thread;
  };
  Status take_chunk(net::BulkStream& from, const protocol::BulkHeader& header, ByteVector bytes) override;
  void has_room() override {}
  bool expects_data() override { return false; }
  std::optional<Result<net::BulkStream::Attached>> connect(const net::BulkStream&) override { return std::nullopt; }
  void on_failed(const net::BulkStream&, const std::string&) override {}

  std::function<void()> wake_;
  Guarded<std::array<Entry, protocol::kMaxBulkStreams>> entries_;
  Guarded<std::vector<Chunk>> chunks_;
};

} // namespace farcl::test
