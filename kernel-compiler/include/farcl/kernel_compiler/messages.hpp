// What is asked of the compile service and what it answers. No LLVM here.
#pragma once

#include "farcl/base/archive.hpp"
#include "farcl/base/content_hash.hpp"
#include "farcl/base/kernel_info.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace farcl::kernel_compiler {

inline constexpr std::uint64_t kMaxSourceBytes = 64ULL << 20;
inline constexpr std::uint64_t kMaxOptionsBytes = 64ULL << 10;
inline constexpr std::uint64_t kMaxHeaders = 16384;
inline constexpr std::uint64_t kMaxHeaderPathBytes = 4096;
inline constexpr std::uint64_t kMaxInputs = 1024;
inline constexpr std::uint64_t kMaxBinaryBytes = 256ULL << 20;
inline constexpr std::uint64_t kMaxLogBytes = 1ULL << 20;
/// Of one framed message in either direction, whatever its fields add up to.
inline constexpr std::uint64_t kMaxMessageBytes = 512ULL << 20;

enum class Stage : std::uint8_t {
  kBuild,   ///< clBuildProgram: source (or one binary) to shared object
  kCompile, ///< clCompileProgram: source to bitcode
  kLink,    ///< clLinkProgram: binaries to shared object, or to bitcode with -create-library
};
constexpr bool is_known(Stage stage) { return stage <= Stage::kLink; }

enum class CompileStatus : std::uint8_t {
  kOk,
  kBuildFailure,           ///< CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE or CL_LINK_PROGRAM_FAILURE by stage
  kInvalidBuildOptions,    ///< CL_INVALID_BUILD_OPTIONS
  kInvalidCompilerOptions, ///< CL_INVALID_COMPILER_OPTIONS (stage kCompile)
  kInvalidLinkerOptions,   ///< CL_INVALID_LINKER_OPTIONS (stage kLink)
  kInvalidBinary,          ///< CL_INVALID_BINARY: an input was not made by this compiler, or is damaged
  kSourceWanted,           ///< nothing is known under CompileRequest::hash
};
constexpr bool is_known(CompileStatus status) { return status <= CompileStatus::kSourceWanted; }

/// A file that the source may #include. `path` as the program names it ("kernels/a.h"), or as an -I folder and the name give
/// it ("/home/me/inc/a.h" for -I /home/me/inc and #include "a.h").
struct Header {
  std::string path;
  std::string text;

  static constexpr auto fields() {
    return std::tuple(field("path", &Header::path, kMaxHeaderPathBytes), field("text", &Header::text, kMaxSourceBytes));
  }
};

/// An earlier CompileReply::binary.
struct Binary {
  ByteVector bytes;

  static constexpr auto fields() { return std::tuple(field("bytes", &Binary::bytes, kMaxBinaryBytes)); }
};

struct CompileRequest {
  Stage stage = Stage::kBuild;
  std::string source;          ///< OpenCL C; empty if `inputs` are given
  std::vector<Binary> inputs;  ///< kLink: any number; kBuild: exactly one, if `source` is empty
  std::vector<Header> headers; ///< for kBuild and kCompile
  std::string options;         ///< exactly as the API call got them
  /// Everything above is left out, because the service may know it: the hash that add_program makes of it.
  std::optional<ContentHash> hash;

  static constexpr auto fields() {
    using T = CompileRequest;
    return std::tuple(field("stage", &T::stage), field("source", &T::source, kMaxSourceBytes), field("inputs", &T::inputs, kMaxInputs),
                      field("headers", &T::headers, kMaxHeaders), field("options", &T::options, kMaxOptionsBytes), field("hash", &T::hash));
  }
};

/// The part of a reply that travels as bytes (and is what the disk cache keeps); the shared object travels as a descriptor.
struct CompileReplyData {
  CompileStatus status = CompileStatus::kBuildFailure;
  std::string log;   ///< clang's words, with source.cl:LINE:COLUMN
  ProgramInfo info;  ///< empty after kCompile
  ByteVector binary; ///< portable form of the program: CL_PROGRAM_BINARIES, and input of later links
  bool has_shared_object = false;
  bool from_cache = false;

  static constexpr auto fields() {
    using T = CompileReplyData;
    return std::tuple(field("status", &T::status), field("log", &T::log, kMaxLogBytes), field("info", &T::info),
                      field("binary", &T::binary, kMaxBinaryBytes), field("has_shared_object", &T::has_shared_object),
                      field("from_cache", &T::from_cache));
  }
};

} // namespace farcl::kernel_compiler
