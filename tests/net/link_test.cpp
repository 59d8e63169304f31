// The link's rules one by one: frames with hand-made bytes, acknowledgements, what is kept and for how long.
#include "link_harness.hpp"

#include <array>

namespace farcl::testing {
namespace {

using net::LoopbackFaults;
using protocol::FrameHeader;

/// A receiver that is fed by hand.
class HandFed : public ::testing::Test {
protected:
  HandFed() : transports_(net::make_loopback()) {}

  void feed(ConstBytes bytes) {
    const ConstBytes part = bytes;
    auto sent = transports_.first->send(std::span(&part, 1));
    ASSERT_TRUE(sent && *sent == bytes.size());
  }
  void feed(FrameHeader header, ConstBytes payload = {}, bool true_length = true) {
    if (true_length) {
      header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    }
    std::array<std::byte, protocol::kFrameHeaderBytes> bytes{};
    protocol::store(header, bytes.data());
    feed(bytes);
    if (!payload.empty()) {
      feed(payload);
    }
  }
  static FrameHeader message_header(std::uint64_t sequence) {
    FrameHeader header;
    header.opcode = protocol::Goodbye::kOpcode;
    header.sequence = sequence;
    return header;
  }
  Result<std::size_t> poll() { return end_.receiver.poll(*transports_.second, end_); }
  void expect_refused(ErrorCode code) {
    const auto polled = poll();
    ASSERT_FALSE(polled.has_value());
    EXPECT_EQ(polled.error().code, code);
    EXPECT_FALSE(polled.error().message.empty());
    EXPECT_TRUE(end_.messages.empty());
  }

  std::pair<net::TransportPtr, net::TransportPtr> transports_;
  LinkEnd end_;
};

TEST_F(HandFed, TakesWhatIsInOrder) {
  feed(message_header(1));
  feed(message_header(2), pattern(10, 1));
  const auto polled = poll();
  ASSERT_TRUE(polled.has_value());
  EXPECT_EQ(*polled, 2 * protocol::kFrameHeaderBytes + 10);
  EXPECT_EQ(end_.messages.size(), 2u);
  EXPECT_EQ(end_.receiver.received_sequence(), 2u);
  EXPECT_EQ(*poll(), 0u);
}

TEST_F(HandFed, DropsWhatItHas) {
  feed(message_header(1));
  feed(message_header(1), pattern(5, 1));
  feed(message_header(2));
  ASSERT_TRUE(poll().has_value());
  EXPECT_EQ(end_.messages.size(), 2u);
  EXPECT_TRUE(end_.messages[1].second.empty());
}

TEST_F(HandFed, DropsBulkThatItHasWithoutAskingWhereItBelongs) {
  const ByteVector bytes = pattern(200'000, 3);
  ByteVector payload(protocol::kBulkHeaderBytes);
  protocol::store(protocol::BulkHeader{{5}, 0}, payload.data());
  payload.insert(payload.end(), bytes.begin(), bytes.end());
  FrameHeader header = message_header(1);
  header.opcode = protocol::kOpcodeBulk;
  feed(header, payload);
  feed(header, payload);
  feed(message_header(2));
  ASSERT_TRUE(poll().has_value());
  while (*poll() != 0) {
  }
  EXPECT_EQ(end_.destinations_asked, 1u);
  EXPECT_EQ(end_.bulk_ranges[5].size(), 1u);
  EXPECT_EQ(end_.bulk[5], bytes);
  EXPECT_EQ(end_.messages.size(), 1u);
}

TEST_F(HandFed, RefusesAGap) {
  feed(message_header(2));
  expect_refused(ErrorCode::kInvalid);
}

TEST_F(HandFed, RefusesALengthOverTheMaximum) {
  FrameHeader header = message_header(1);
  header.payload_bytes = protocol::kMaxFramePayloadBytes + 1;
  feed(header, {}, false);
  expect_refused(ErrorCode::kLimit);
}

TEST_F(HandFed, TakesTheLargestLength) {
  feed(message_header(1), {}, true);
  FrameHeader header = message_header(2);
  header.payload_bytes = protocol::kMaxFramePayloadBytes;
  feed(header, {}, false);
  const ByteVector payload = pattern(protocol::kMaxFramePayloadBytes, 9);
  for (std::size_t at = 0; at < payload.size(); at += 500'000) {
    feed(ConstBytes(payload).subspan(at, std::min<std::size_t>(500'000, payload.size() - at)));
    ASSERT_TRUE(poll().has_value());
  }
  ASSERT_EQ(end_.messages.size(), 2u);
  EXPECT_EQ(end_.messages[1].second, payload);
}

TEST_F(HandFed, RefusesReservedBits) {
  FrameHeader header = message_header(1);
  header.reserved = 1;
  feed(header);
  expect_refused(ErrorCode::kInvalid);
}

TEST_F(HandFed, RefusesOpcodeZeroAndMissingNumbers) {
  FrameHeader header = message_header(0);
  feed(header);
  expect_refused(ErrorCode::kInvalid);
}

TEST_F(HandFed, RefusesControlFramesThatAreNumberedOrOfTheWrongSize) {
  FrameHeader numbered;
  numbered.opcode = protocol::kOpcodeAcknowledge;
  numbered.sequence = 1;
  feed(numbered);
  expect_refused(ErrorCode::kInvalid);
  end_.receiver.on_resumed();
  FrameHeader short_ping;
  short_ping.opcode = protocol::kOpcodePing;
  feed(short_ping, pattern(7, 1));
  expect_refused(ErrorCode::kInvalid);
}

TEST_F(HandFed, RefusesBulkWithoutData) {
  FrameHeader header = message_header(1);
  header.opcode = protocol::kOpcodeBulk;
  feed(header, pattern(protocol::kBulkHeaderBytes, 1));
  expect_refused(ErrorCode::kInvalid);
}

TEST_F(HandFed, RefusesAnAcknowledgementOfWhatWasNeverSent) {
  FrameHeader header = message_header(1);
  header.acknowledged = 1;
  feed(header);
  expect_refused(ErrorCode::kInvalid);
}

TEST_F(HandFed, RandomBytesAreAnErrorAndNoMore) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    LinkEnd end;
    auto transports = net::make_loopback();
    const ByteVector bytes = pattern(100'000, seed);
    const ConstBytes part = bytes;
    ASSERT_TRUE(transports.first->send(std::span(&part, 1)).has_value());
    EXPECT_FALSE(end.receiver.poll(*transports.second, end).has_value());
  }
}

TEST(Link, AcknowledgesWithWhatItSends) {
  LinkedPair pair([](int) { return std::pair(LoopbackFaults{}, LoopbackFaults{}); });
  auto transports = net::make_loopback();
  pair.first.sender.append(protocol::Goodbye{});
  ASSERT_TRUE(*pair.first.sender.flush(*transports.first));
  ASSERT_TRUE(pair.second.receiver.poll(*transports.second, pair.second).has_value());
  EXPECT_EQ(pair.second.sender.sent_acknowledgement(), 0u);
  pair.second.sender.append(protocol::Goodbye{});
  EXPECT_EQ(pair.second.sender.sent_acknowledgement(), 0u);
  ASSERT_TRUE(*pair.second.sender.flush(*transports.second));
  EXPECT_EQ(pair.second.sender.sent_acknowledgement(), 1u);
  ASSERT_TRUE(pair.first.receiver.poll(*transports.first, pair.first).has_value());
  EXPECT_EQ(pair.first.sender.acknowledged_sequence(), 1u);
  EXPECT_EQ(pair.first.sender.retained_bytes(), 0u);
}

TEST(Link, ABareAcknowledgementIsSentOnceAndNotKept) {
  LinkEnd end;
  LinkEnd peer;
  auto transports = net::make_loopback();
  end.sender.append_acknowledgement();
  EXPECT_EQ(end.sender.unsent_bytes(), 0u) << "there is nothing to acknowledge";
  peer.sender.append(protocol::Goodbye{});
  ASSERT_TRUE(*peer.sender.flush(*transports.second));
  ASSERT_TRUE(end.receiver.poll(*transports.first, end).has_value());
  end.sender.append_acknowledgement();
  end.sender.append_acknowledgement();
  EXPECT_EQ(end.sender.unsent_bytes(), protocol::kFrameHeaderBytes);
  ASSERT_TRUE(*end.sender.flush(*transports.first));
  EXPECT_EQ(end.sender.retained_bytes(), 0u);
  ASSERT_TRUE(peer.receiver.poll(*transports.second, peer).has_value());
  EXPECT_EQ(peer.sender.acknowledged_sequence(), 1u);
}

TEST(Link, PingsComeBack) {
  LinkedPair pair([](int) { return std::pair(LoopbackFaults{}, LoopbackFaults{}); });
  pair.first.sender.append_ping(0x1234'5678'9abc'def0);
  ASSERT_TRUE(pair.run());
  ASSERT_TRUE(pair.run());
  EXPECT_EQ(pair.first.pongs, std::vector<std::uint64_t>{0x1234'5678'9abc'def0});
}

TEST(Link, KeepsUntilAcknowledgedAndCountsBulk) {
  LinkEnd end;
  auto transports = net::make_loopback({.capacity_bytes = 64u << 20});
  const auto data = std::make_shared<const ByteVector>(pattern(1'000'000, 1));
  end.sender.append(protocol::Goodbye{});
  const auto last = end.sender.append_bulk({7}, 0, *data, data);
  EXPECT_EQ(last, 1 + (data->size() + protocol::kBulkChunkBytes - 1) / protocol::kBulkChunkBytes);
  const std::size_t total =
      protocol::kFrameHeaderBytes + data->size() + (last - 1) * (protocol::kFrameHeaderBytes + protocol::kBulkHeaderBytes);
  EXPECT_EQ(end.sender.retained_bytes(), total);
  EXPECT_EQ(end.sender.unsent_bytes(), total);
  EXPECT_FALSE(end.sender.on_acknowledged(1).has_value()) << "it has not been sent";
  ASSERT_TRUE(*end.sender.flush(*transports.first));
  EXPECT_EQ(end.sender.unsent_bytes(), 0u);
  EXPECT_EQ(end.sender.retained_bytes(), total);
  EXPECT_FALSE(end.sender.on_acknowledged(last + 1).has_value());
  ASSERT_TRUE(end.sender.on_acknowledged(last - 1).has_value());
  EXPECT_GT(data.use_count(), 1) << "the last chunk may have to be sent again";
  ASSERT_TRUE(end.sender.on_acknowledged(last).has_value());
  EXPECT_EQ(data.use_count(), 1);
  EXPECT_EQ(end.sender.retained_bytes(), 0u);
}

TEST(Link, RefusesAnAcknowledgementOfHalfAFrame) {
  LinkEnd end;
  auto transports = net::make_loopback({.capacity_bytes = protocol::kFrameHeaderBytes + 10});
  end.sender.append(protocol::Goodbye{});
  end.sender.append(protocol::Goodbye{});
  ASSERT_FALSE(*end.sender.flush(*transports.first));
  EXPECT_TRUE(end.sender.on_acknowledged(1).has_value());
  EXPECT_FALSE(end.sender.on_acknowledged(2).has_value());
}

TEST(Link, ResumingChecksWhatThePeerClaims) {
  LinkEnd end;
  auto transports = net::make_loopback();
  for (int i = 0; i < 10; ++i) {
    end.sender.append(protocol::Goodbye{});
  }
  ASSERT_TRUE(*end.sender.flush(*transports.first));
  ASSERT_TRUE(end.sender.on_acknowledged(4).has_value());
  EXPECT_FALSE(end.sender.on_resumed(3).has_value()) << "those were freed";
  EXPECT_FALSE(end.sender.on_resumed(11).has_value()) << "never sent";
  ASSERT_TRUE(end.sender.on_resumed(6).has_value());
  EXPECT_EQ(end.sender.unsent_bytes(), 4 * protocol::kFrameHeaderBytes);
  EXPECT_EQ(end.sender.acknowledged_sequence(), 6u);
}

TEST(Link, ControlFramesAreNotSentAgain) {
  LinkEnd end;
  auto broken = net::make_loopback();
  end.sender.append(protocol::Goodbye{});
  end.sender.append_ping(1);
  end.sender.append(protocol::Goodbye{});
  end.sender.append_ping(2);
  ASSERT_TRUE(*end.sender.flush(*broken.first));
  ASSERT_TRUE(end.sender.on_resumed(0).has_value());
  EXPECT_EQ(end.sender.unsent_bytes(), 2 * protocol::kFrameHeaderBytes);
  LinkEnd peer;
  auto whole = net::make_loopback();
  ASSERT_TRUE(*end.sender.flush(*whole.first));
  ASSERT_TRUE(peer.receiver.poll(*whole.second, peer).has_value());
  EXPECT_EQ(peer.messages.size(), 2u);
  EXPECT_EQ(peer.sender.unsent_bytes(), 0u) << "a pong would be due after a ping";
}

TEST(Link, AMessageOverTheMaximumIsNotAppended) {
  LinkEnd end;
  protocol::ProgramBinary message;
  const ByteVector large(protocol::kMaxFramePayloadBytes + 1);
  message.bytes = large;
  EXPECT_EQ(end.sender.append(message), 0u);
  EXPECT_EQ(end.sender.retained_bytes(), 0u);
  EXPECT_EQ(end.sender.append(protocol::Goodbye{}), 1u);
  auto transports = net::make_loopback();
  LinkEnd peer;
  ASSERT_TRUE(*end.sender.flush(*transports.first));
  ASSERT_TRUE(peer.receiver.poll(*transports.second, peer).has_value());
  EXPECT_EQ(peer.messages.size(), 1u);
}

TEST(Link, StopsAfterItsBudget) {
  LinkEnd end;
  auto transports = net::make_loopback({.capacity_bytes = 8u << 20});
  const auto data = std::make_shared<const ByteVector>(4u << 20);
  end.sender.append_bulk({1}, 0, *data, data);
  ASSERT_TRUE(*end.sender.flush(*transports.first));
  LinkEnd peer;
  const auto polled = peer.receiver.poll(*transports.second, peer, 1'000'000);
  ASSERT_TRUE(polled.has_value());
  EXPECT_GE(*polled, 1'000'000u);
  EXPECT_LT(*polled, 1'000'000u + protocol::kBulkChunkBytes + (64u << 10));
}

TEST(Link, WhatArrivedBeforeTheEndIsHandled) {
  LinkEnd end;
  auto transports = net::make_loopback();
  for (int i = 0; i < 10; ++i) {
    end.sender.append(protocol::Goodbye{});
  }
  ASSERT_TRUE(*end.sender.flush(*transports.first));
  transports.first.reset();
  LinkEnd peer;
  auto polled = peer.receiver.poll(*transports.second, peer);
  ASSERT_TRUE(polled.has_value());
  EXPECT_EQ(peer.messages.size(), 10u);
  polled = peer.receiver.poll(*transports.second, peer);
  ASSERT_FALSE(polled.has_value());
  EXPECT_EQ(polled.error().code, ErrorCode::kClosed);
}

} // namespace
} // namespace farcl::testing
