// Programs: built on the server, their kernels described in the reply, launched by (program, index).
#pragma once

#include "farcl/base/archive.hpp"
#include "farcl/base/content_hash.hpp"
#include "farcl/base/kernel_info.hpp"
#include "farcl/protocol/frame.hpp"
#include "farcl/protocol/ids.hpp"
#include "farcl/protocol/limits.hpp"

#include <string>
#include <variant>
#include <vector>

namespace farcl::protocol {

enum class BuildStage : std::uint8_t {
  kBuild,   ///< clBuildProgram: one input, an executable
  kCompile, ///< clCompileProgram: one source, an object
  kLink,    ///< clLinkProgram: objects, an executable or (with -create-library) a library
};
constexpr bool is_known(BuildStage stage) { return stage <= BuildStage::kLink; }

struct SourceInput {
  ConstBytes text;
  static constexpr auto fields() { return std::tuple(field("text", &SourceInput::text, kMaxSourceBytes)); }
};
struct BinaryInput { ///< what ProgramBinary gave earlier, perhaps in another session
  ConstBytes bytes;
  static constexpr auto fields() { return std::tuple(field("bytes", &BinaryInput::bytes, kMaxProgramBinaryBytes)); }
};
struct ProgramInput { ///< another program of this session, compiled before
  ProgramId program;
  static constexpr auto fields() { return std::tuple(field("program", &ProgramInput::program)); }
};
/// A source with its headers and options, by hash (add_program): for a large one that the server may know from anybody. The request has
/// nothing else beside it then. The server answers BuildDone, or SourceWanted.
struct HashedInput {
  ContentHash hash{};
  static constexpr auto fields() { return std::tuple(field("hash", &HashedInput::hash)); }
};
using BuildInput = std::variant<SourceInput, BinaryInput, ProgramInput, HashedInput>;

struct BuildHeader {
  std::string path; ///< as the source names it, or as found under an -I folder
  ConstBytes text;
  static constexpr auto fields() {
    return std::tuple(field("path", &BuildHeader::path, kMaxPathBytes), field("text", &BuildHeader::text, kMaxSourceBytes));
  }
};

/// Answered by one BuildDone, or by SourceWanted. The program id may be new or have been built before; the new result replaces the old one
/// for launches that follow.
struct BuildProgram {
  static constexpr Opcode kOpcode = 64;
  RequestId request;
  ProgramId program;
  ContextId context;
  std::vector<std::uint32_t> devices;
  BuildStage stage = BuildStage::kBuild;
  std::vector<BuildInput> inputs;
  std::vector<BuildHeader> headers;
  std::string options; ///< as clBuildProgram got it
  static constexpr auto fields() {
    using T = BuildProgram;
    return std::tuple(field("request", &T::request), field("program", &T::program), field("context", &T::context),
                      field("devices", &T::devices, kMaxDevicesPerServer), field("stage", &T::stage),
                      field("inputs", &T::inputs, kMaxBuildInputs), field("headers", &T::headers, kMaxHeadersPerBuild),
                      field("options", &T::options, kMaxBuildOptionsBytes));
  }
};

struct BuildDone {
  static constexpr Opcode kOpcode = 65;
  RequestId request;
  std::int32_t status = 0;        ///< CL_SUCCESS, CL_BUILD_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS, ...
  std::uint32_t binary_type = 0;  ///< CL_PROGRAM_BINARY_TYPE_*
  std::uint64_t binary_bytes = 0; ///< CL_PROGRAM_BINARY_SIZES
  std::string log;
  ProgramInfo info;
  static constexpr auto fields() {
    using T = BuildDone;
    return std::tuple(field("request", &T::request), field("status", &T::status), field("binary_type", &T::binary_type),
                      field("binary_bytes", &T::binary_bytes), field("log", &T::log, kMaxBuildLogBytes), field("info", &T::info));
  }
};

/// Answers a BuildProgram with a HashedInput that the server does not know: the client asks again, with the source.
struct SourceWanted {
  static constexpr Opcode kOpcode = 68;
  RequestId request;
  static constexpr auto fields() { return std::tuple(field("request", &SourceWanted::request)); }
};

struct GetProgramBinary {
  static constexpr Opcode kOpcode = 66;
  RequestId request;
  ProgramId program;
  static constexpr auto fields() {
    return std::tuple(field("request", &GetProgramBinary::request), field("program", &GetProgramBinary::program));
  }
};

struct ProgramBinary {
  static constexpr Opcode kOpcode = 67;
  RequestId request;
  std::int32_t status = 0;
  ConstBytes bytes;
  static constexpr auto fields() {
    using T = ProgramBinary;
    return std::tuple(field("request", &T::request), field("status", &T::status), field("bytes", &T::bytes, kMaxProgramBinaryBytes));
  }
};

} // namespace farcl::protocol
