#include "driver/program/program_binary.hpp"

#include "driver/session/session.hpp"

#include <cstring>

namespace farcl::driver {
namespace {

bool is_binary_type(std::uint32_t type) {
  return type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT || type == CL_PROGRAM_BINARY_TYPE_LIBRARY ||
         type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
}

struct BinaryFacts {
  bool from_build = false; ///< the server has it
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
  std::uint64_t payload_bytes = 0;
};

BinaryFacts facts_of(Program& program) {
  return program.build().with([&](const BuildState& build) -> BinaryFacts {
    if (build.status == CL_BUILD_SUCCESS && build.binary_bytes != 0) {
      return {true, build.binary_type, build.binary_bytes};
    }
    if (program.kind() == ProgramKind::kBinary && build.status == CL_BUILD_NONE) {
      return {false, build.binary_type, program.binary().size()};
    }
    return {};
  });
}

} // namespace

Result<ParsedProgramBinary> parse_program_binary(ConstBytes bytes) {
  if (bytes.size() <= kProgramBinaryHeaderBytes || std::memcmp(bytes.data(), kProgramBinaryMagic.data(), kProgramBinaryMagic.size()) != 0) {
    return fail(ErrorCode::kInvalid, "not a program binary of FarCL");
  }
  std::uint32_t version = 0;
  std::uint32_t type = 0;
  std::memcpy(&version, bytes.data() + 8, sizeof version);
  std::memcpy(&type, bytes.data() + 12, sizeof type);
  if (version != kProgramBinaryVersion || !is_binary_type(type)) {
    return fail(ErrorCode::kInvalid, "a program binary of another version of FarCL");
  }
  if (bytes.size() - kProgramBinaryHeaderBytes > protocol::kMaxProgramBinaryBytes) {
    return fail(ErrorCode::kLimit, "a program binary that is too large");
  }
  return ParsedProgramBinary{type, bytes.subspan(kProgramBinaryHeaderBytes)};
}

ByteVector make_program_binary(cl_program_binary_type type, ConstBytes payload) {
  ByteVector bytes(kProgramBinaryHeaderBytes + payload.size());
  const std::uint32_t type32 = type;
  std::memcpy(bytes.data(), kProgramBinaryMagic.data(), kProgramBinaryMagic.size());
  std::memcpy(bytes.data() + 8, &kProgramBinaryVersion, sizeof kProgramBinaryVersion);
  std::memcpy(bytes.data() + 12, &type32, sizeof type32);
  if (!payload.empty()) {
    std::memcpy(bytes.data() + kProgramBinaryHeaderBytes, payload.data(), payload.size());
  }
  return bytes;
}

std::size_t program_binary_bytes(Program& program) {
  const BinaryFacts facts = facts_of(program);
  return facts.payload_bytes != 0 ? kProgramBinaryHeaderBytes + static_cast<std::size_t>(facts.payload_bytes) : 0;
}

Result<ByteVector> fetch_program_binary(Program& program) {
  const BinaryFacts facts = facts_of(program);
  if (!facts.from_build) {
    return make_program_binary(facts.type, program.binary());
  }
  Result<ByteVector> payload = program.session().program_binary(program.id());
  if (!payload) {
    return payload;
  }
  return make_program_binary(facts.type, *payload);
}

} // namespace farcl::driver
