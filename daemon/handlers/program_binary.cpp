#include "daemon/handlers/program_binary.hpp"

#include "farcl/base/archive.hpp"
#include "farcl/protocol/limits.hpp"

#include <algorithm>

namespace farcl::daemon {

namespace {
constexpr std::array<std::uint8_t, 8> kBinaryMagic = {'F', 'a', 'r', 'C', 'L', 'b', 'i', 'n'};
constexpr std::uint32_t kBinaryVersion = 1;

struct Envelope {
  std::array<std::uint8_t, 8> magic = kBinaryMagic;
  std::uint32_t version = kBinaryVersion;
  std::string builder;
  std::uint32_t type = 0;
  std::uint64_t checksum = 0; ///< of the contents
  ConstBytes contents;

  static constexpr auto fields() {
    using T = Envelope;
    return std::tuple(field("magic", &T::magic), field("version", &T::version), field("builder", &T::builder, 256), field("type", &T::type),
                      field("checksum", &T::checksum), field("contents", &T::contents, protocol::kMaxProgramBinaryBytes));
  }
};

/// FNV-1a: finds damage; what a hostile binary can do is up to the compile service, which checks it again.
std::uint64_t checksum(ConstBytes bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const std::byte one : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(one)) * 0x100000001b3ull;
  }
  return hash;
}
} // namespace

ByteVector seal_binary(const std::string& builder, cl_program_binary_type type, ConstBytes contents) {
  Envelope envelope;
  envelope.builder = builder;
  envelope.type = type;
  envelope.checksum = checksum(contents);
  envelope.contents = contents;
  return encode(envelope);
}

std::size_t sealed_bytes(const std::string& builder, std::size_t contents_bytes) {
  return seal_binary(builder, 0, {}).size() + contents_bytes;
}

Result<OpenedBinary> open_binary(const std::string& builder, ConstBytes sealed) {
  Envelope envelope;
  Reader reader(sealed);
  if (!reader.read(envelope) || reader.remaining() != 0 || envelope.magic != kBinaryMagic) {
    return fail(ErrorCode::kInvalid, "this is not a program binary of FarCL");
  }
  if (envelope.version != kBinaryVersion || envelope.builder != builder) {
    return fail(ErrorCode::kInvalid, "this program binary was made for '" + envelope.builder + "', not for '" + builder + "'");
  }
  if (checksum(envelope.contents) != envelope.checksum) {
    return fail(ErrorCode::kInvalid, "this program binary is damaged");
  }
  return OpenedBinary{envelope.type, envelope.contents};
}

} // namespace farcl::daemon
