// Further connections for bulk: made when a link turns out to be long, each with a thread of its own (net::BulkStream).
#include "driver/session/session.hpp"
#include "driver/session/thread.hpp"

namespace farcl::driver {

namespace {
constexpr std::chrono::milliseconds kDemandEvery{20};
constexpr std::chrono::milliseconds kLongRoundTrip{5};
constexpr std::uint64_t kLargeWindowBytes = 512u << 10; ///< in flight on one connection: soon more than its windows cover
constexpr std::uint64_t kWorthwhileBytes = 2u << 20;    ///< still to be moved
} // namespace

// Called by the reader after it has read, so while a link is busy often enough.
void ServerSession::consider_streams(State& state, std::size_t received_bytes, Clock::time_point now) {
  state.demand.received_bytes += received_bytes;
  if (now < state.demand.next_look || !transport_) {
    return;
  }
  const auto facts = transport_->congestion();
  if (!facts) {
    may_open_streams_ = false; // no network between us
    return;
  }
  const double seconds = std::chrono::duration<double>(now - state.demand.begin).count();
  const double received_per_second = static_cast<double>(state.demand.received_bytes) / seconds;
  state.demand = {0, now, now + std::max<Clock::duration>(kDemandEvery, facts->round_trip)};
  if (facts->least_round_trip < kLongRoundTrip) {
    return;
  }
  const double rate = std::max(state.window.bytes_per_second(), received_per_second);
  std::uint64_t missing = state.outgoing.bytes();
  state.reads.for_each([&](protocol::TransferId, IncomingRead* read) { missing += read->missing_bytes(); });
  if (rate * std::chrono::duration<double>(facts->least_round_trip).count() >= kLargeWindowBytes && missing >= kWorthwhileBytes) {
    open_streams();
  }
}

void ServerSession::open_streams() {
  may_open_streams_ = false;
  for (unsigned i = 0; i < options_.bulk_streams; ++i) {
    auto* const stream = new net::BulkStream(*this, static_cast<std::uint8_t>(i + 1), options_.resume); // lives as long as the session
    start_detached_thread("farcl-bulk", [stream] { stream->main(); });
    streams_[i].store(stream, std::memory_order_release);
  }
}

// Under the state lock. True when there are streams: bulk is theirs then, so that what is lost of it holds up no command.
bool ServerSession::spread_bulk(State& state) {
  bool connected = false;
  bool spread = false;
  for_each_stream([&](net::BulkStream& stream) {
    connected = connected || stream.is_connected();
    while (state.outgoing.has_ready() && stream.has_room()) {
      stream.send(state.outgoing.take_copy(stream.chunk_bytes()));
      spread = true;
    }
  });
  if (spread && !state.outgoing.has_ready()) { // somebody may wait for the memory
    progress_.notify_all();
    reader_waker_.notify();
  }
  return connected;
}

// --- BulkStream::Owner: on the streams' threads -----------------------------------------------------------------------------------

Status ServerSession::take_chunk(net::BulkStream& from, const protocol::BulkHeader& header, ByteVector bytes) {
  from.chunk_used(); // when this returns
  Access state = state_.lock();
  IncomingRead** read = state->reads.find(header.transfer);
  return read != nullptr ? (*read)->take(header.offset, bytes) : Status(); // else it has failed meanwhile: nobody wants the bytes
}

void ServerSession::has_room() { (void)spread_bulk(*state_.lock()); }

bool ServerSession::expects_data() { return !state_.lock()->reads.empty(); }

std::optional<Result<net::BulkStream::Attached>> ServerSession::connect(const net::BulkStream& stream) {
  protocol::Hello hello;
  hello.stream = protocol::StreamKind::kBulk;
  hello.stream_number = stream.number();
  hello.session = hello_.session;
  hello.proof = hello_.proof;
  hello.received = stream.received_sequence().load(std::memory_order_acquire);
  auto connection = options_.connector(hello);
  if (!connection) {
    return pass_on(std::move(connection));
  }
  const protocol::HelloReply& reply = connection->reply;
  if (reply.status != protocol::HelloStatus::kWelcome) {
    const bool gone = reply.status == protocol::HelloStatus::kUnknownSession || reply.status == protocol::HelloStatus::kObituary;
    return fail(gone ? ErrorCode::kDisconnected : ErrorCode::kRefused, reply.text); // the stream of commands tells of a death
  }
  return net::BulkStream::Attached{std::move(connection->transport), reply.received, std::nullopt};
}

void ServerSession::on_failed(const net::BulkStream& stream, const std::string& sentence) {
  if (!stream.has_lived()) {
    log_.info(options_.name + ": " + sentence);
    return; // nothing was on it: bulk goes on with the commands
  }
  {
    Access state = state_.lock();
    state->stream_failure = sentence;
    stream_failed_.store(true, std::memory_order_release);
  }
  reader_waker_.notify();
  io_waker_.notify();
}

} // namespace farcl::driver
