#include "daemon/session/bulk_streams.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace farcl::daemon {

BulkStreams::~BulkStreams() {
  for (Entry& one : entries_) {
    if (one.stream) {
      one.stream->stop();
    }
  }
  for (Entry& one : entries_) {
    if (one.thread.joinable()) {
      one.thread.join();
    }
  }
}

void BulkStreams::attach(std::uint8_t number, net::BulkStream::Attached connection) {
  Entry& entry = entries_.at(number - 1u);
  if (!entry.stream) {
    entry.stream = std::make_unique<net::BulkStream>(static_cast<net::BulkStream::Owner&>(*this), number, std::chrono::milliseconds(0));
    entry.thread = std::thread([stream = entry.stream.get()] { stream->main(); });
  }
  entry.stream->attach(std::move(connection));
}

bool BulkStreams::are_connected() const noexcept {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& one) { return one.stream && one.stream->is_connected(); });
}

net::BulkStream* BulkStreams::with_room() noexcept {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& one = entries_[next_++ % entries_.size()];
    if (one.stream && one.stream->has_room()) {
      return one.stream.get();
    }
  }
  return nullptr;
}

Status BulkStreams::deliver(ChunkArrival arrival, Transfers& transfers) {
  auto taken = transfers.take(arrival.header, arrival.bytes);
  if (!taken) {
    return pass_on(std::move(taken));
  }
  if (*taken) {
    arrival.stream->chunk_used();
  } else {
    waiting_.push_back({std::move(arrival), Clock::now()});
  }
  return {};
}

Status BulkStreams::deliver_waiting(Transfers& transfers, std::chrono::seconds patience) {
  for (std::deque<Waiting> waiting = std::exchange(waiting_, {}); Waiting& one : waiting) {
    const Clock::time_point since = one.since;
    const std::string name = std::to_string(one.arrival.header.transfer.value);
    const std::size_t before = waiting_.size();
    if (auto status = deliver(std::move(one.arrival), transfers); !status) {
      return status;
    }
    if (waiting_.size() != before) {
      waiting_.back().since = since;
      if (Clock::now() - since > patience) {
        return fail(ErrorCode::kInvalid, "bytes for transfer " + name + ", which was not announced");
      }
    }
  }
  return {};
}

Status BulkStreams::take_chunk(net::BulkStream& from, const protocol::BulkHeader& header, ByteVector bytes) {
  hooks_.on_chunk({&from, header, std::move(bytes)});
  return {};
}

void BulkStreams::on_failed(const net::BulkStream&, const std::string& sentence) { hooks_.on_failure({sentence}); }

} // namespace farcl::daemon
