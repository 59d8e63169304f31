// Feeds wire bytes to everything that decodes them: hello, frames through the link, all messages of both directions. Beside the
// sanitizers two things are checked: what decodes encodes to the same bytes, and a refusal always has a sentence.
#include "decoder_input.hpp"
#include "farcl/net/address.hpp"
#include "farcl/net/link.hpp"
#include "farcl/protocol/dispatch.hpp"
#include "farcl/protocol/hello.hpp"
#include "farcl/protocol/print.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace farcl;
using farcl::testing::DecoderInput;

void check(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "fuzz_decoder: %s\n", what);
    std::abort();
  }
}

/// Takes every message; what the daemon would look at first in a region is looked at here, too.
class Handler {
public:
  explicit Handler(ConstBytes payload) : payload_(payload) {}

  template <class Message>
  Status handle(Message&& message) {
    const ByteVector again = encode(message);
    check(std::equal(again.begin(), again.end(), payload_.begin(), payload_.end()), "a message encodes to other bytes than it came from");
    check(!protocol::print(message).empty(), "a message prints as nothing");
    look_at_regions(message);
    return {};
  }

private:
  template <class Message>
  static void look_at_regions(const Message& message) {
    if constexpr (requires { message.rect; }) {
      look_at(message.rect);
    }
    if constexpr (requires { message.source_rect; }) {
      look_at(message.source_rect);
      look_at(message.destination_rect);
    }
  }
  static void look_at(const protocol::BufferRect& rect) {
    for (const std::uint64_t buffer_bytes : {std::uint64_t{0}, std::uint64_t{4096}, ~std::uint64_t{0}}) {
      if (const auto size = protocol::check_within(rect, buffer_bytes)) {
        check(*size <= buffer_bytes && rect.offset < buffer_bytes, "a region was accepted that does not fit its buffer");
      }
    }
  }
  ConstBytes payload_;
};

template <class List>
Status decode_message(protocol::Opcode opcode, ConstBytes payload) {
  Handler handler(payload);
  auto status = protocol::Dispatcher<List, Handler>::dispatch(handler, opcode, payload);
  check(status.has_value() || !status.error().message.empty(), "a refusal without a sentence");
  return status;
}

/// A transport whose peer has sent the input, in pieces.
class InputTransport final : public net::Transport {
public:
  InputTransport(ConstBytes input, std::size_t piece) : input_(input), piece_(piece) {}
  Result<std::size_t> send(std::span<const ConstBytes> parts) override { return parts.front().size(); }
  Result<std::size_t> receive(MutableBytes into) override {
    if (input_.empty()) {
      return fail(ErrorCode::kClosed, "the end of the input");
    }
    const std::size_t size = std::min({into.size(), input_.size(), piece_});
    std::copy_n(input_.begin(), size, into.begin());
    input_ = input_.subspan(size);
    return size;
  }
  net::Interest wait(net::Interest interest, std::chrono::nanoseconds, net::Waker*) override { return interest; }
  void shutdown() noexcept override {}
  [[nodiscard]] std::string description() const override { return "fuzz input"; }

private:
  ConstBytes input_;
  std::size_t piece_;
};

template <class List>
class Sink final : public net::FrameSink {
public:
  Sink() : sender_(receiver_.received_sequence()) {
    for (int i = 0; i < 3; ++i) { // something that can be acknowledged
      sender_.append(protocol::Goodbye{});
    }
    sender_.append_bulk({1}, 0, std::as_bytes(std::span(data_)), nullptr);
  }
  void run(ConstBytes input, std::size_t piece) {
    InputTransport transport(input, piece);
    (void)sender_.flush(transport);
    for (;;) {
      const auto polled = receiver_.poll(transport, *this);
      if (!polled) {
        check(!polled.error().message.empty(), "a refusal without a sentence");
        return;
      }
    }
  }

  Status on_message(protocol::Opcode opcode, ConstBytes payload) override { return decode_message<List>(opcode, payload); }
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader&, std::size_t size) override {
    destination_.assign(size, std::byte{0});
    destination_.shrink_to_fit();
    return MutableBytes(destination_);
  }
  Status on_bulk(const protocol::BulkHeader&, std::size_t size) override {
    check(size == destination_.size(), "a chunk of another size than its destination");
    return {};
  }
  Status on_acknowledged(std::uint64_t sequence) override { return sender_.on_acknowledged(sequence); }
  void on_ping(std::uint64_t token) override { sender_.append_pong(token); }
  void on_pong(std::uint64_t) override {}

private:
  std::array<char, 100> data_{};
  net::FrameReceiver receiver_;
  net::FrameSender sender_;
  ByteVector destination_;
};

template <std::size_t Size, class Decode, class Encode>
void decode_fixed(ConstBytes input, Decode&& decode, Encode&& encode_again) {
  std::array<std::byte, Size> bytes{};
  std::copy_n(input.begin(), std::min(input.size(), Size), bytes.begin());
  const auto decoded = decode(bytes);
  check(decoded.has_value() || !decoded.error().message.empty(), "a refusal without a sentence");
  if (decoded) { // reserved bytes may differ from the input, so the second generation is compared with the first
    const auto first = encode_again(*decoded);
    const auto second = decode(first);
    check(second.has_value() && encode_again(*second) == first, "a hello changes on its way");
  }
}

void run(DecoderInput kind, ConstBytes input) {
  switch (kind) {
  case DecoderInput::kHello:
    decode_fixed<protocol::kHelloBytes>(input, [](const auto& bytes) { return protocol::decode_hello(bytes); }, protocol::encode_hello);
    break;
  case DecoderInput::kHelloReply:
    decode_fixed<protocol::kHelloReplyBytes>(
        input, [](const auto& bytes) { return protocol::decode_hello_reply(bytes); }, protocol::encode_hello_reply);
    break;
  case DecoderInput::kClientMessage:
  case DecoderInput::kServerMessage:
    if (input.size() >= 2) {
      protocol::Opcode opcode = 0;
      std::memcpy(&opcode, input.data(), 2);
      const ByteVector payload(input.begin() + 2, input.end()); // exactly as large: a byte read behind it is seen
      (void)(kind == DecoderInput::kClientMessage ? decode_message<protocol::ClientMessages>(opcode, payload)
                                                  : decode_message<protocol::ServerMessages>(opcode, payload));
    }
    break;
  case DecoderInput::kClientFrames:
  case DecoderInput::kServerFrames:
    if (!input.empty()) {
      const auto piece = static_cast<std::size_t>(input[0]);
      const std::size_t piece_bytes = piece == 255 ? input.size() : piece + 1;
      if (kind == DecoderInput::kClientFrames) {
        Sink<protocol::ClientMessages>().run(input.subspan(1), piece_bytes);
      } else {
        Sink<protocol::ServerMessages>().run(input.subspan(1), piece_bytes);
      }
    }
    break;
  case DecoderInput::kAddress: {
    const auto address = net::parse_server_address({reinterpret_cast<const char*>(input.data()), input.size()});
    check(address.has_value() || !address.error().message.empty(), "a refusal without a sentence");
    check(!address || address->host.empty() || address->host.front() != '-', "a host name that looks like an option");
    break;
  }
  case DecoderInput::kCount: break;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size != 0) {
    const ConstBytes input = std::as_bytes(std::span(data, size));
    run(static_cast<DecoderInput>(data[0] % static_cast<unsigned char>(DecoderInput::kCount)), input.subspan(1));
  }
  return 0;
}
