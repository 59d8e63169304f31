// Writes the seeds of fuzz_decoder: one input per message and direction, all messages in a row as frames, hellos, addresses.
//
//   decoder_seeds FOLDER           writes them
//   decoder_seeds --check FOLDER   fails when a seed is missing or another one is expected; other files (found by fuzzing) may lie there
#include "decoder_input.hpp"
#include "farcl/protocol/hello.hpp"
#include "samples.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace {

using namespace farcl;
using farcl::testing::DecoderInput;
using farcl::testing::FixedValues;

ByteVector start(DecoderInput kind) { return {static_cast<std::byte>(kind)}; }
void append(ByteVector& out, ConstBytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

void append_frame(ByteVector& out, protocol::Opcode opcode, std::uint64_t sequence, ConstBytes payload) {
  std::array<std::byte, protocol::kFrameHeaderBytes> header{};
  const std::uint64_t acknowledged = std::min<std::uint64_t>(sequence / 4, 4);
  protocol::store(protocol::FrameHeader{static_cast<std::uint32_t>(payload.size()), opcode, 0, sequence, acknowledged}, header.data());
  append(out, header);
  append(out, payload);
}

template <class List>
void add_messages(std::map<std::string, ByteVector>& seeds, const std::string& side, DecoderInput one, DecoderInput frames) {
  ByteVector all = start(frames);
  all.push_back(std::byte{50}); // pieces of 51 bytes
  std::uint64_t sequence = 0;
  protocol::for_each_message(List{}, [&]<class Message>() {
    FixedValues values;
    const ByteVector payload = encode(farcl::testing::sample<Message>(values));
    ByteVector seed = start(one);
    append(seed, std::as_bytes(std::span(&Message::kOpcode, 1)));
    append(seed, payload);
    seeds[side + "-" + std::string(protocol::kMessageName<Message>)] = std::move(seed);
    append_frame(all, Message::kOpcode, ++sequence, payload);
  });
  ByteVector bulk(protocol::kBulkHeaderBytes + 40, std::byte{7});
  append_frame(all, protocol::kOpcodeBulk, ++sequence, bulk);
  append_frame(all, protocol::kOpcodeBulk, sequence, bulk); // again, as after a cut
  append_frame(all, protocol::kOpcodePing, 0, ByteVector(protocol::kPingBytes));
  append_frame(all, protocol::kOpcodePong, 0, ByteVector(protocol::kPingBytes));
  append_frame(all, protocol::kOpcodeAcknowledge, 0, {});
  seeds[side + "-frames"] = std::move(all);
}

std::map<std::string, ByteVector> make_seeds() {
  std::map<std::string, ByteVector> seeds;
  add_messages<protocol::ClientMessages>(seeds, "client", DecoderInput::kClientMessage, DecoderInput::kClientFrames);
  add_messages<protocol::ServerMessages>(seeds, "server", DecoderInput::kServerMessage, DecoderInput::kServerFrames);
  append(seeds["hello"] = start(DecoderInput::kHello), protocol::encode_hello({}));
  protocol::HelloReply reply;
  reply.text = "welcome";
  append(seeds["hello-reply"] = start(DecoderInput::kHelloReply), protocol::encode_hello_reply(reply));
  int number = 0;
  for (const std::string text :
       {"host:5/1#[fd00::1]:6", "unix:/run/farcl.sock", "ssh://me@gpu1:22/3", "[fe80::1%eth0]:99", "rdma://host:1"}) {
    append(seeds["address-" + std::to_string(++number)] = start(DecoderInput::kAddress), std::as_bytes(std::span(text)));
  }
  return seeds;
}

ByteVector read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

} // namespace

int main(int argc, char** argv) {
  const bool checking = argc == 3 && std::string_view(argv[1]) == "--check";
  if (argc != 2 && !checking) {
    std::fprintf(stderr, "usage: decoder_seeds [--check] FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[argc - 1];
  int wrong = 0;
  for (const auto& [name, bytes] : make_seeds()) {
    if (!checking) {
      std::ofstream(folder / name, std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    } else if (read_file(folder / name) != bytes) {
      std::fprintf(stderr, "the seed %s is not what the message list makes; run decoder_seeds %s\n", name.c_str(), folder.c_str());
      ++wrong;
    }
  }
  return wrong == 0 ? 0 : 1;
}
