#include "farcl/net/bulk_stream.hpp"

#include "farcl/net/accept.hpp"

#include <algorithm>
#include <cstring>

namespace farcl::net {

namespace {
using namespace std::chrono_literals;

constexpr std::size_t kReadBudgetBytes = 256u << 10;
constexpr std::size_t kUnsentBytes = 1u << 20;    ///< in front of the socket
constexpr std::size_t kRetainedBytes = 16u << 20; ///< not acknowledged
constexpr std::uint32_t kUnusedChunks = 16;       ///< received, and not used by the session yet
constexpr auto kPingAfter = 1s;                   ///< of silence while something is missing
constexpr auto kRetryAfter = 100ms;
constexpr auto kLongestSleep = 60s;
} // namespace

BulkStream::BulkStream(Owner& owner, std::uint8_t number, std::chrono::milliseconds patience)
    : owner_(owner), number_(number), patience_(patience), mail_([this] { waker_.notify(); }) {}

BulkStream::~BulkStream() = default;

void BulkStream::stop() {
  stop_.store(true, std::memory_order_release);
  waker_.notify();
}

// The flag is set before the room is looked at, and looked at after the room is set: one of both sees the other.
bool BulkStream::has_room() {
  room_wanted_.store(true);
  if (!is_connected() || room_bytes_.load() <= 0) {
    return false;
  }
  room_wanted_.store(false);
  return true;
}

void BulkStream::send(BulkChunk chunk) {
  room_bytes_.fetch_sub(static_cast<std::int64_t>(chunk.bytes.size()));
  mail_.post(std::move(chunk));
}

void BulkStream::chunk_used() {
  if (unused_chunks_.fetch_sub(1) == kUnusedChunks) {
    waker_.notify();
  }
}

void BulkStream::main() {
  cut_since_ = Clock::now();
  while (!stop_.load(std::memory_order_acquire)) {
    take_mail();
    if (!transport_ && !failed_) {
      repair();
    }
    if (transport_) {
      if (auto status = turn(); !status) {
        lose_connection(status.error());
        continue;
      }
    }
    sleep();
  }
  transport_for_child_.store(nullptr);
  connected_.store(false);
  transport_.reset();
}

void BulkStream::take_mail() {
  if (mail_.has_mail()) {
    room_bytes_.store(0); // counted anew once these are in the sender
    for (Mail& mail : mail_.take_all()) {
      std::visit([this](auto& one) { take(std::move(one)); }, mail);
    }
  }
}

void BulkStream::take(BulkChunk chunk) {
  sender_.append_bulk(chunk.header.transfer, chunk.header.offset, chunk.bytes, std::move(chunk.keep_alive));
  window_.appended(chunk.bytes.size());
}

void BulkStream::take(Cut) {
  if (transport_) {
    lose_connection({ErrorCode::kDisconnected, 0, "it was cut"});
  }
}

void BulkStream::take(Attached connection) {
  transport_.reset(); // given up by the peer, whatever has been seen of it here
  connected_.store(false);
  if (auto status = sender_.on_resumed(connection.peer_received); !status) {
    return give_up("a further connection could not be resumed: " + status.error().message);
  }
  receiver_.on_resumed();
  window_.reset();
  if (connection.reply) {
    connection.reply->received = receiver_.received_sequence().load(std::memory_order_relaxed);
    if (!send_hello_reply(*connection.transport, *connection.reply)) {
      return; // the peer will try again
    }
  }
  transport_ = std::move(connection.transport);
  transport_for_child_.store(transport_.get());
  heard_ = Clock::now();
  pinged_ = {};
  has_lived_.store(true, std::memory_order_release);
  connected_.store(true, std::memory_order_release);
}

void BulkStream::repair() {
  const auto now = Clock::now();
  if (now < next_attempt_) {
    return;
  }
  next_attempt_ = now + kRetryAfter;
  auto made = owner_.connect(*this);
  if (!made) {
    next_attempt_ = Clock::time_point::max(); // the peer makes them
  } else if (*made) {
    take(std::move(**made));
  } else if (const ErrorCode code = made->error().code; code == ErrorCode::kRefused || Clock::now() - cut_since_ > patience_) {
    give_up("a further connection could not be made: " + made->error().message);
  }
}

Status BulkStream::turn() {
  if (unused_chunks_.load() < kUnusedChunks) {
    auto got = receiver_.poll(*transport_, *this, kReadBudgetBytes);
    if (!got) {
      return pass_on(std::move(got));
    }
    if (*got != 0) {
      heard_ = Clock::now();
      pinged_ = {};
    }
  }
  sender_.append_acknowledgement();
  if (auto status = check_silence(); !status) {
    return status;
  }
  auto all = sender_.flush(*transport_);
  if (!all) {
    return pass_on(std::move(all));
  }
  write_blocked_ = !*all;
  publish_room();
  return {};
}

void BulkStream::publish_room() {
  std::size_t room = 0;
  if (sender_.unsent_bytes() < kUnsentBytes && sender_.retained_bytes() < kRetainedBytes &&
      window_.is_open(*transport_, sender_.unsent_bytes())) {
    room = std::min(window_.room_bytes(), kUnsentBytes);
  }
  chunk_bytes_.store(window_.chunk_bytes(), std::memory_order_relaxed);
  if (!mail_.has_mail()) { // else these are to be counted first
    room_bytes_.store(static_cast<std::int64_t>(room));
    if (room != 0 && room_wanted_.exchange(false)) {
      owner_.has_room();
    } else if (room != 0) {
      window_.ran_dry(); // else who sends would have asked for more
    }
  }
}

void BulkStream::sleep() {
  if (!transport_) {
    const auto left = std::clamp<Clock::duration>(next_attempt_ - Clock::now(), 0ms, kLongestSleep);
    (void)waker_.wait(failed_ ? kLongestSleep : left);
    return;
  }
  if (mail_.has_mail()) {
    return;
  }
  const bool in_flight = sender_.acknowledged_sequence() != sender_.last_sequence();
  Clock::duration longest = in_flight || owner_.expects_data() ? Clock::duration(kPingAfter) : Clock::duration(kLongestSleep);
  if (window_.is_holding()) {
    longest = kBulkLookEvery;
  }
  Interest interest = write_blocked_ ? Interest::kWritable : Interest::kNone;
  if (unused_chunks_.load() < kUnusedChunks) {
    interest = interest | Interest::kReadable;
  }
  (void)transport_->wait(interest, longest, &waker_);
}

Status BulkStream::check_silence() {
  const bool in_flight = sender_.acknowledged_sequence() != sender_.last_sequence();
  const auto now = Clock::now();
  if (now - heard_ < kPingAfter || !(in_flight || owner_.expects_data())) {
    return {};
  }
  if (pinged_ == Clock::time_point{}) {
    pinged_ = now;
    sender_.append_ping(static_cast<std::uint64_t>(now.time_since_epoch().count()));
  } else if (now - pinged_ > std::max<Clock::duration>(kPingAfter, patience_ / 2)) {
    return fail(ErrorCode::kTimeout, "the peer has been silent for too long");
  }
  return {};
}

void BulkStream::lose_connection(const Error& why) {
  const bool broken = why.code == ErrorCode::kDisconnected || why.code == ErrorCode::kClosed || why.code == ErrorCode::kTimeout;
  transport_for_child_.store(nullptr);
  connected_.store(false);
  transport_.reset();
  cut_since_ = next_attempt_ = Clock::now();
  if (!broken) {
    give_up("a further connection brought something that makes no sense: " + why.message);
  }
}

void BulkStream::give_up(const std::string& sentence) {
  failed_ = true;
  owner_.on_failed(*this, sentence);
}

// --- FrameSink ------------------------------------------------------------------------------------------------------------------

Status BulkStream::on_message(protocol::Opcode opcode, ConstBytes) {
  return fail(ErrorCode::kInvalid, "a message (opcode " + std::to_string(opcode) + ") on a stream for bulk");
}

Result<MutableBytes> BulkStream::bulk_destination(const protocol::BulkHeader&, std::size_t size) {
  if (size > protocol::kBulkChunkBytes) {
    return fail(ErrorCode::kInvalid, "a chunk of " + std::to_string(size) + " bytes");
  }
  incoming_.resize(size);
  return MutableBytes(incoming_);
}

Status BulkStream::on_bulk(const protocol::BulkHeader& chunk, std::size_t) {
  unused_chunks_.fetch_add(1);
  return owner_.take_chunk(*this, chunk, std::exchange(incoming_, {}));
}

} // namespace farcl::net
