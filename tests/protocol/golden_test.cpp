// The bytes of every message stand in golden/, one file per message. A change of the wire shows here before a peer sees it.
// FARCL_UPDATE_GOLDEN=1 writes the files anew.
#include "farcl/protocol/hello.hpp"
#include "farcl/protocol/print.hpp"
#include "samples.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

namespace farcl::testing {
namespace {

const std::filesystem::path kFolder = FARCL_GOLDEN_FOLDER;

bool updating() {
  const char* value = std::getenv("FARCL_UPDATE_GOLDEN");
  return value != nullptr && std::string_view(value) == "1";
}

std::string to_hex_lines(ConstBytes bytes) {
  constexpr std::size_t kPerLine = 32;
  std::ostringstream out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto value = static_cast<unsigned>(bytes[i]);
    out << kDigits[value >> 4] << kDigits[value & 15] << (i % kPerLine == kPerLine - 1 || i + 1 == bytes.size() ? '\n' : ' ');
  }
  return out.str();
}

/// The file without its comment lines.
std::string read_golden(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind('#', 0) != 0) {
      text += line + "\n";
    }
  }
  return text;
}

void expect_golden(const std::string& name, const std::string& comment, const std::string& first_line, ConstBytes bytes) {
  const auto path = kFolder / (name + ".hex");
  const std::string expected = first_line + "\n" + to_hex_lines(bytes);
  if (updating()) {
    std::ofstream(path) << "# " << comment << "\n" << expected;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << "no golden bytes for " << name << "; FARCL_UPDATE_GOLDEN=1 writes them";
  EXPECT_EQ(read_golden(path), expected) << name << " has other bytes on the wire than before. If that is meant, raise the protocol's "
                                         << "version if peers would misunderstand, and run this test with FARCL_UPDATE_GOLDEN=1.";
}

const std::set<std::string>& fixed_layouts() {
  static const std::set<std::string> kNames = {"Hello", "HelloReply", "FrameHeader", "BulkHeader"};
  return kNames;
}

TEST(Golden, EveryMessage) {
  for_each_message_of_both([]<class Message>() {
    FixedValues values;
    const Message message = sample<Message>(values);
    const std::string name(protocol::kMessageName<Message>);
    SCOPED_TRACE(name);
    expect_golden(name, protocol::print(message), "opcode " + std::to_string(Message::kOpcode), encode(message));
  });
}

TEST(Golden, HelloAndReply) {
  FixedValues values;
  protocol::Hello hello;
  hello.version_min = 0x1122;
  hello.version_max = 0x3344;
  hello.received = values.number();
  protocol::HelloReply reply;
  reply.version_min = 0x1122;
  reply.version_max = 0x3344;
  reply.status = protocol::HelloStatus::kObituary;
  reply.received = values.number();
  reply.text = "your worker has died";
  for (std::size_t i = 0; i < 16; ++i) {
    hello.session[i] = reply.session[i] = static_cast<std::uint8_t>(0xa0 + i);
    hello.key[i] = static_cast<std::uint8_t>(0xe0 + i);
  }
  for (std::size_t i = 0; i < 32; ++i) {
    hello.proof[i] = reply.secret[i] = static_cast<std::uint8_t>(0xc0 + i);
    hello.nonce[i] = static_cast<std::uint8_t>(0x40 + i);
    hello.mac[i] = reply.mac[i] = static_cast<std::uint8_t>(0x80 + i);
  }
  expect_golden("Hello", "the client's first bytes", "hello", protocol::encode_hello(hello));
  expect_golden("HelloReply", "the server's first bytes", "hello reply", protocol::encode_hello_reply(reply));
}

TEST(Golden, FrameAndBulkHeaders) {
  std::array<std::byte, protocol::kFrameHeaderBytes> frame{};
  protocol::store(protocol::FrameHeader{0x01020304, 0x0506, 0, 0x1112131415161718, 0x2122232425262728}, frame.data());
  expect_golden("FrameHeader", "payload bytes, opcode, reserved, sequence, acknowledged", "frame", frame);
  std::array<std::byte, protocol::kBulkHeaderBytes> bulk{};
  protocol::store(protocol::BulkHeader{{0x3132333435363738}, 0x4142434445464748}, bulk.data());
  expect_golden("BulkHeader", "transfer, offset", "bulk", bulk);
}

TEST(Golden, NoFileWithoutAMessage) {
  std::set<std::string> known = fixed_layouts();
  for_each_message_of_both([&]<class Message>() { known.emplace(protocol::kMessageName<Message>); });
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    EXPECT_TRUE(known.count(entry.path().stem().string()) == 1) << entry.path() << " belongs to no message";
  }
}

} // namespace
} // namespace farcl::testing
