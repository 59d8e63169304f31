// Two ends of a session, driven by one thread over loopback transports that break, so that every run is the same.
#pragma once

#include "farcl/net/link.hpp"
#include "farcl/net/loopback.hpp"
#include "farcl/protocol/message_list.hpp"

#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace farcl::testing {

using net::FrameReceiver;
using net::FrameSender;
using net::FrameSink;

/// Bytes that differ from place to place and from seed to seed.
inline ByteVector pattern(std::size_t size, std::uint64_t seed) {
  ByteVector bytes(size);
  std::mt19937_64 random(seed * 7919 + 1);
  std::size_t at = 0;
  for (; at + 8 <= size; at += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + at, &word, 8);
  }
  for (; at < size; ++at) {
    bytes[at] = static_cast<std::byte>(random());
  }
  return bytes;
}

/// One end: a sender, a receiver, and a sink that remembers what it got.
class LinkEnd final : public FrameSink {
public:
  LinkEnd() : sender(receiver.received_sequence()) {}

  Status on_message(protocol::Opcode opcode, ConstBytes payload) override {
    messages.emplace_back(opcode, ByteVector(payload.begin(), payload.end()));
    return {};
  }
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader& chunk, std::size_t size) override {
    ++destinations_asked;
    ByteVector& bytes = bulk[chunk.transfer.value];
    if (bytes.size() < chunk.offset + size) {
      bytes.resize(chunk.offset + size);
    }
    return MutableBytes(bytes.data() + chunk.offset, size);
  }
  Status on_bulk(const protocol::BulkHeader& chunk, std::size_t size) override {
    bulk_ranges[chunk.transfer.value].emplace_back(chunk.offset, size);
    return {};
  }
  Status on_acknowledged(std::uint64_t sequence) override { return sender.on_acknowledged(sequence); }
  void on_ping(std::uint64_t token) override { sender.append_pong(token); }
  void on_pong(std::uint64_t token) override { pongs.push_back(token); }

  FrameReceiver receiver;
  FrameSender sender;
  std::vector<std::pair<protocol::Opcode, ByteVector>> messages;
  std::map<std::uint64_t, ByteVector> bulk;
  std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::size_t>>> bulk_ranges;
  std::vector<std::uint64_t> pongs;
  std::size_t destinations_asked = 0;
};

/// Faults of connection number n: of what the first end sends, and of what the second one sends.
using FaultPlan = std::function<std::pair<net::LoopbackFaults, net::LoopbackFaults>(int connection)>;

/// The two ends of connection number n.
using Connect = std::function<std::pair<net::TransportPtr, net::TransportPtr>(int connection)>;

class LinkedPair {
public:
  explicit LinkedPair(FaultPlan plan)
      : LinkedPair(Connect([plan = std::move(plan)](int connection) {
          auto [forward, backward] = plan(connection);
          return net::make_loopback(forward, backward);
        })) {}
  explicit LinkedPair(Connect connect) : connect_(std::move(connect)) { transports_ = connect_(connections++); }

  /// Moves bytes until both ends have sent everything and have it acknowledged. False when that takes unreasonably long.
  bool run() {
    for (int round = 0; round < 2'000'000; ++round) {
      if (!step(first, *transports_.first) || !step(second, *transports_.second)) {
        reconnect();
      } else if (settled(first) && settled(second)) {
        return true;
      }
    }
    return false;
  }

  LinkEnd first;
  LinkEnd second;
  int connections = 0;
  std::string protocol_error;

private:
  static bool settled(const LinkEnd& end) {
    return end.sender.unsent_bytes() == 0 && end.sender.acknowledged_sequence() == end.sender.last_sequence();
  }

  /// One turn of one end; false when its connection is gone.
  bool step(LinkEnd& end, net::Transport& transport) {
    end.sender.append_acknowledgement();
    auto flushed = end.sender.flush(transport);
    auto received = end.receiver.poll(transport, end, 100'000);
    for (const Error* error : {flushed ? nullptr : &flushed.error(), received ? nullptr : &received.error()}) {
      if (error != nullptr && error->code != ErrorCode::kDisconnected && error->code != ErrorCode::kClosed) {
        protocol_error = error->message;
        ADD_FAILURE() << error->message;
      }
    }
    return flushed.has_value() && received.has_value();
  }
  void reconnect() {
    transports_ = {};
    first.receiver.on_resumed();
    second.receiver.on_resumed();
    const auto first_received = first.receiver.received_sequence().load();
    const auto second_received = second.receiver.received_sequence().load();
    for (auto status : {first.sender.on_resumed(second_received), second.sender.on_resumed(first_received)}) {
      ASSERT_TRUE(status.has_value()) << status.error().message;
    }
    transports_ = connect_(connections++);
  }

  Connect connect_;
  std::pair<net::TransportPtr, net::TransportPtr> transports_;
};

/// A session's worth of traffic in one direction, and the check that exactly it has arrived.
class Traffic {
public:
  void add_message(std::size_t data_bytes) { steps_.push_back({false, data_bytes}); }
  void add_bulk(std::size_t bytes) { steps_.push_back({true, bytes}); }

  void append_to(FrameSender& sender, std::uint64_t seed) {
    std::uint64_t id = 0;
    for (const Step& step : steps_) {
      const auto data = std::make_shared<const ByteVector>(pattern(step.bytes, seed + ++id));
      if (step.bulk) {
        sender.append_bulk(protocol::TransferId{id}, 0, *data, data);
        bulk_.emplace(id, *data);
      } else {
        protocol::CreateBuffer message;
        message.buffer.value = id;
        message.data = *data;
        sender.append(message);
        messages_.push_back(encode(message));
      }
    }
  }
  void expect_at(const LinkEnd& end) const {
    ASSERT_EQ(end.messages.size(), messages_.size());
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      ASSERT_EQ(end.messages[i].first, protocol::CreateBuffer::kOpcode);
      ASSERT_EQ(end.messages[i].second, messages_[i]) << "message " << i;
    }
    ASSERT_EQ(end.bulk.size(), bulk_.size());
    for (const auto& [id, bytes] : bulk_) {
      ASSERT_EQ(end.bulk.at(id), bytes) << "transfer " << id;
      std::size_t expected_offset = 0; // each chunk once, in order
      for (const auto& [offset, size] : end.bulk_ranges.at(id)) {
        ASSERT_EQ(offset, expected_offset);
        expected_offset += size;
      }
      ASSERT_EQ(expected_offset, bytes.size());
    }
  }

private:
  struct Step {
    bool bulk = false;
    std::size_t bytes = 0;
  };
  std::vector<Step> steps_;
  std::vector<ByteVector> messages_;
  std::map<std::uint64_t, ByteVector> bulk_;
};

} // namespace farcl::testing
