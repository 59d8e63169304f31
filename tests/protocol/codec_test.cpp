// Every message: there and back, cut short, with too much behind it, and with lengths at and over their maxima.
#include "farcl/protocol/dispatch.hpp"
#include "farcl/protocol/print.hpp"
#include "lengths.hpp"
#include "samples.hpp"

#include <gtest/gtest.h>

namespace farcl::testing {
namespace {

/// Decodes from memory of exactly that size, so that a sanitizer sees every byte read behind it.
template <class Message>
Result<Message> decode_exactly(ConstBytes bytes, ByteVector& memory) {
  memory.assign(bytes.begin(), bytes.end());
  memory.shrink_to_fit();
  return protocol::decode<Message>(memory);
}

ByteVector with_length(const ByteVector& bytes, const LengthField& field, std::uint64_t length) {
  ByteVector changed = bytes;
  std::memcpy(changed.data() + field.at, &length, 8);
  return changed;
}
/// With `count` real elements instead of those that were there.
ByteVector with_elements(const ByteVector& bytes, const LengthField& field, std::uint64_t count) {
  ByteVector changed(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(field.at));
  changed.resize(changed.size() + 8);
  std::memcpy(changed.data() + field.at, &count, 8);
  for (std::uint64_t i = 0; i < count; ++i) {
    changed.insert(changed.end(), field.element.begin(), field.element.end());
  }
  changed.insert(changed.end(), bytes.begin() + static_cast<std::ptrdiff_t>(field.end), bytes.end());
  return changed;
}

template <class Function>
void for_each_sample(Function&& function) {
  for_each_message_of_both([&]<class Message>() {
    SCOPED_TRACE(protocol::kMessageName<Message>);
    FixedValues values;
    const Message message = sample<Message>(values);
    function(message);
  });
}

TEST(Codec, RandomValuesThereAndBack) {
  for_each_message_of_both([]<class Message>() {
    SCOPED_TRACE(protocol::kMessageName<Message>);
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      RandomValues values(seed);
      Message message;
      fill(message, values);
      const ByteVector bytes = encode(message);
      ByteVector memory;
      const auto decoded = decode_exactly<Message>(bytes, memory);
      ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
      ASSERT_EQ(encode(*decoded), bytes);
      ASSERT_EQ(protocol::print(*decoded), protocol::print(message));
    }
  });
}

TEST(Codec, EveryTruncationFails) {
  for_each_sample([]<class Message>(const Message& message) {
    const ByteVector bytes = encode(message);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ByteVector memory;
      const auto decoded = decode_exactly<Message>(ConstBytes(bytes).first(size), memory);
      ASSERT_FALSE(decoded.has_value()) << size << " of " << bytes.size() << " bytes";
      EXPECT_EQ(decoded.error().code, ErrorCode::kInvalid);
      EXPECT_NE(decoded.error().message.find(protocol::kMessageName<Message>), std::string::npos);
    }
  });
}

TEST(Codec, AByteTooManyFails) {
  for_each_sample([]<class Message>(const Message& message) {
    ByteVector bytes = encode(message);
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(protocol::decode<Message>(bytes).has_value());
  });
}

TEST(Codec, EveryLengthOverItsMaximumFails) {
  std::size_t lengths = 0;
  for_each_sample([&]<class Message>(const Message& message) {
    const ByteVector bytes = encode(message);
    for (const LengthField& field : LengthFinder::find(message)) {
      SCOPED_TRACE(field.path);
      ++lengths;
      for (const std::uint64_t length : {field.max_elements + 1, ~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 32}) {
        ByteVector memory;
        const auto decoded = decode_exactly<Message>(with_length(bytes, field, length), memory);
        ASSERT_FALSE(decoded.has_value());
        if (length > field.max_elements) {
          EXPECT_NE(decoded.error().message.find("at most " + std::to_string(field.max_elements)), std::string::npos)
              << decoded.error().message;
        }
      }
    }
  });
  EXPECT_GT(lengths, 40u) << "the walk over the fields finds too little";
}

TEST(Codec, ALengthAtItsMaximumWithoutTheBytesFails) {
  for_each_sample([]<class Message>(const Message& message) {
    const ByteVector bytes = encode(message);
    for (const LengthField& field : LengthFinder::find(message)) {
      SCOPED_TRACE(field.path);
      if (field.max_elements > 64) { // the sample's own bytes could fill less
        ByteVector memory;
        ASSERT_FALSE(decode_exactly<Message>(with_length(bytes, field, field.max_elements), memory).has_value());
      }
    }
  });
}

TEST(Codec, EveryLengthAtItsMaximumIsTakenAndOneMoreIsNot) {
  for_each_sample([]<class Message>(const Message& message) {
    const ByteVector bytes = encode(message);
    for (const LengthField& field : LengthFinder::find(message)) {
      SCOPED_TRACE(field.path);
      ASSERT_FALSE(field.element.empty());
      if (field.max_elements * field.element.size() > (64u << 20)) {
        continue; // far over what a frame can carry
      }
      const ByteVector full = with_elements(bytes, field, field.max_elements);
      const auto decoded = protocol::decode<Message>(full);
      ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
      EXPECT_EQ(encode(*decoded), full);
      EXPECT_FALSE(protocol::decode<Message>(with_elements(bytes, field, field.max_elements + 1)).has_value());
    }
  });
}

TEST(Codec, UnknownEnumeratorsAndAlternativesFail) {
  protocol::ReleaseObject object;
  ByteVector bytes = encode(object);
  bytes[0] = std::byte{4};
  EXPECT_FALSE(protocol::decode<protocol::ReleaseObject>(bytes).has_value());
  protocol::EnqueueKernel kernel;
  kernel.arguments.emplace_back(protocol::BufferArgument{});
  bytes = encode(kernel);
  bytes[bytes.size() - 9] = std::byte{3};
  EXPECT_FALSE(protocol::decode<protocol::EnqueueKernel>(bytes).has_value());
  protocol::EnqueueMarker marker;
  bytes = encode(marker);
  bytes.back() = std::byte{2};
  EXPECT_FALSE(protocol::decode<protocol::EnqueueMarker>(bytes).has_value()) << "a bool that is neither";
}

struct CountingHandler {
  template <class Message>
  Status handle(Message&&) {
    ++handled;
    return {};
  }
  int handled = 0;
};

TEST(Dispatch, ReachesEveryMessageAndNothingElse) {
  CountingHandler handler;
  int expected = 0;
  protocol::for_each_message(protocol::ClientMessages{}, [&]<class Message>() {
    const auto status =
        protocol::Dispatcher<protocol::ClientMessages, CountingHandler>::dispatch(handler, Message::kOpcode, encode(Message{}));
    EXPECT_TRUE(status.has_value()) << status.error().message;
    EXPECT_EQ(handler.handled, ++expected);
  });
  for (unsigned opcode = 0; opcode < 65'536; ++opcode) {
    bool known = false;
    protocol::for_each_message(protocol::ClientMessages{}, [&]<class Message>() { known = known || Message::kOpcode == opcode; });
    if (!known) {
      const auto code = static_cast<protocol::Opcode>(opcode);
      EXPECT_FALSE((protocol::Dispatcher<protocol::ClientMessages, CountingHandler>::dispatch(handler, code, {}).has_value()));
    }
  }
  EXPECT_EQ(handler.handled, expected);
}

} // namespace
} // namespace farcl::testing
