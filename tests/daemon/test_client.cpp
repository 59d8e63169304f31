#include "test_client.hpp"

#include <cstring>

namespace farcl::daemon::test {

bool TestClient::connect(const net::LoopbackFaults& to_session, const net::LoopbackFaults& from_session) {
  auto [mine, theirs] = net::make_loopback(to_session, from_session);
  Attachment attachment;
  attachment.transport = std::move(theirs);
  attachment.resume = connected_before_;
  attachment.received = received();
  attachment.shared = shared;
  session_.attach(std::move(attachment));
  p::HelloReplyBytes bytes{};
  const auto end = std::chrono::steady_clock::now() + 10s;
  for (std::size_t at = 0; at < bytes.size();) {
    auto got = mine->receive(MutableBytes(bytes).subspan(at));
    if (!got || std::chrono::steady_clock::now() > end) {
      return false;
    }
    at += *got;
    if (*got == 0) {
      mine->wait(net::Interest::kReadable, 100ms, nullptr);
    }
  }
  auto decoded = p::decode_hello_reply(bytes);
  if (!decoded) {
    return false;
  }
  reply = *decoded;
  if (reply->status != p::HelloStatus::kWelcome) {
    return false;
  }
  transport_ = std::move(mine);
  receiver_.on_resumed();
  if (!sender_.on_resumed(reply->received)) {
    transport_.reset();
    return false;
  }
  connected_before_ = true;
  ++connections;
  return true;
}

void TestClient::lose() {
  transport_.reset();
  if (reconnects) {
    (void)connect();
  }
}

void TestClient::disconnect() { transport_.reset(); }

bool TestClient::flush() {
  while (transport_ != nullptr) {
    auto all = sender_.flush(*transport_);
    if (!all) {
      // The session may have said why it ends: what has arrived is read first. receive() loses the connection itself at its end.
      while (transport_ != nullptr && receive()) {
      }
      if (transport_ != nullptr) {
        lose();
      }
      continue;
    }
    if (*all) {
      return true;
    }
    if (!receive()) { // the session may wait for us to read
      transport_->wait(net::Interest::kWritable | net::Interest::kReadable, 100ms, nullptr);
    }
  }
  return false;
}

void TestClient::send_bulk(p::TransferId transfer, std::uint64_t offset, ConstBytes bytes) {
  sender_.append_bulk(transfer, offset, bytes, std::make_shared<int>(0));
  flush();
}

void TestClient::send_raw(p::Opcode opcode, ConstBytes payload) {
  ByteVector& block = sender_.begin_frame();
  block.insert(block.end(), payload.begin(), payload.end());
  sender_.end_frame(opcode);
  flush();
}

bool TestClient::receive() {
  auto got = receiver_.poll(*transport_, *this);
  if (!got) {
    lose();
    flush();
    return false;
  }
  if (*got != 0 && acknowledges) {
    sender_.append_acknowledgement();
    flush();
  }
  return *got != 0;
}

bool TestClient::until(const std::function<bool()>& ready, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!ready()) {
    if (transport_ == nullptr || std::chrono::steady_clock::now() > end) {
      return false;
    }
    if (!receive() && transport_ != nullptr && !ready()) {
      transport_->wait(net::Interest::kReadable, 10ms, nullptr);
    }
  }
  return true;
}

std::optional<std::int32_t> TestClient::finish(p::QueueId queue) {
  const p::RequestId request{next_request_++};
  send(p::Finish{queue, request});
  const auto find = [&] { return std::find_if(finished.begin(), finished.end(), [&](const auto& one) { return one.request == request; }); };
  if (!until([&] { return find() != finished.end(); })) {
    return std::nullopt;
  }
  return find()->queue_status;
}

std::optional<ByteVector> TestClient::read(p::QueueId queue, p::BufferId buffer, std::uint64_t offset, std::uint64_t size,
                                           std::int32_t* queue_status) {
  const p::TransferId transfer{next_request_++};
  send(p::EnqueueRead{{queue, {}, false, {}}, buffer, p::BufferRect::linear(offset, size), transfer});
  if (!until([&] { return reads.count(transfer.value) != 0; })) {
    return std::nullopt;
  }
  if (queue_status != nullptr) {
    *queue_status = reads[transfer.value].queue_status;
  }
  if (reads[transfer.value].status < 0) {
    return std::nullopt;
  }
  return bulk[transfer.value];
}

std::optional<std::int32_t> TestClient::status_of(p::EventId event) {
  const auto find = [&] {
    return std::find_if(completions.begin(), completions.end(), [&](const auto& one) { return one.event == event; });
  };
  if (!until([&] { return find() != completions.end(); })) {
    return std::nullopt;
  }
  return find()->status;
}

Status TestClient::on_message(p::Opcode opcode, ConstBytes payload) {
  p::for_each_message(p::ServerMessages(), [&]<class Message>() {
    if (Message::kOpcode == opcode) {
      order.emplace_back(p::kMessageName<Message>);
    }
  });
  return p::Dispatcher<p::ServerMessages, TestClient>::dispatch(*this, opcode, payload);
}

Result<MutableBytes> TestClient::bulk_destination(const p::BulkHeader& chunk, std::size_t size) {
  ByteVector& bytes = bulk[chunk.transfer.value];
  bytes.resize(std::max<std::size_t>(bytes.size(), chunk.offset + size));
  return MutableBytes(bytes).subspan(chunk.offset, size);
}

Status TestClient::handle(p::PrintfOutput&& message) {
  printed.append(reinterpret_cast<const char*>(message.text.data()), message.text.size());
  return {};
}

Status TestClient::handle(p::ProgramBinary&& message) {
  binary_status = message.status;
  binary.assign(message.bytes.begin(), message.bytes.end());
  return {};
}

Status TestClient::handle(p::Completions&& message) {
  completions.insert(completions.end(), message.completions.begin(), message.completions.end());
  return {};
}

Status TestClient::handle(p::ReadResult&& message) {
  if (!message.data.empty()) {
    bulk[message.transfer.value].assign(message.data.begin(), message.data.end());
  }
  message.data = {};
  reads[message.transfer.value] = message;
  return {};
}

} // namespace farcl::daemon::test
