#include "fake_streams.hpp"

namespace farcl::test {

FakeStreams::~FakeStreams() {
  auto entries = entries_.lock();
  for (Entry& one : *entries) {
    if (one.stream) {
      one.stream->stop();
      one.thread.join();
    }
  }
}

Result<net::Connection> FakeStreams::connect(const protocol::Hello& hello, protocol::HelloReply reply, net::TransportPtr client,
                                             net::TransportPtr server) {
  ++connections;
  {
    auto entries = entries_.lock();
    Entry& entry = entries->at(hello.stream_number - 1u);
    if (!entry.stream) {
      entry.stream =
          std::make_unique<net::BulkStream>(static_cast<net::BulkStream::Owner&>(*this), hello.stream_number, std::chrono::milliseconds(0));
      entry.thread = std::thread([stream = entry.stream.get()] { stream->main(); });
    }
    entry.stream->attach({std::move(server), hello.received, reply});
  }
  protocol::HelloReplyBytes bytes;
  for (std::size_t have = 0; have < bytes.size();) {
    auto got = client->receive(MutableBytes(bytes).subspan(have));
    if (!got) {
      return pass_on(std::move(got));
    }
    have += *got;
    std::this_thread::yield();
  }
  return net::Connection{std::move(client), protocol::decode_hello_reply(bytes).value()};
}

bool FakeStreams::are_connected() {
  auto entries = entries_.lock();
  return std::any_of(entries->begin(), entries->end(), [](const Entry& one) { return one.stream && one.stream->is_connected(); });
}

void FakeStreams::send_and_wait(protocol::TransferId transfer, const ByteVector& bytes, const std::atomic<bool>& stop) {
  std::vector<std::weak_ptr<ByteVector>> sent;
  for (std::size_t at = 0, turn = 0; at < bytes.size() && !stop; ++turn) {
    auto entries = entries_.lock();
    Entry& entry = (*entries)[turn % entries->size()];
    if (!entry.stream || !entry.stream->has_room()) {
      std::this_thread::yield();
      continue;
    }
    const std::size_t size = std::min(entry.stream->chunk_bytes(), bytes.size() - at);
    auto chunk = std::make_shared<ByteVector>(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                              bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
    sent.push_back(chunk);
    entry.stream->send({{transfer, at}, ConstBytes(*chunk), chunk});
    ++chunks_sent;
    at += size;
  }
  for (const auto& one : sent) {
    while (!one.expired() && !stop) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
}

Status FakeStreams::take_chunk(net::BulkStream& from, const protocol::BulkHeader& header, ByteVector bytes) {
  ++chunks_received;
  chunks_.lock()->push_back({&from, header, std::move(bytes)});
  wake_();
  return {};
}

} // namespace farcl::test
