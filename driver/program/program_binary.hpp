// What clGetProgramInfo(CL_PROGRAM_BINARIES) gives out and clCreateProgramWithBinary takes: 16 bytes of ours, then the bytes of
// the server's ProgramBinary, which nobody here looks into.
//
// The header lets the client refuse foreign bytes without asking, and remembers what kind of binary it is.
#pragma once

#include "driver/objects/program.hpp"
#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"

#include <array>
#include <cstddef>

namespace farcl::driver {

inline constexpr std::array<char, 8> kProgramBinaryMagic = {'F', 'A', 'R', 'C', 'L', 'P', 'B', '\n'};
inline constexpr std::uint32_t kProgramBinaryVersion = 1;
inline constexpr std::size_t kProgramBinaryHeaderBytes = 16;

struct ParsedProgramBinary {
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
  ConstBytes payload; ///< a view of the input
};
/// kInvalid when the bytes are not a binary of FarCL.
[[nodiscard]] Result<ParsedProgramBinary> parse_program_binary(ConstBytes bytes);
[[nodiscard]] ByteVector make_program_binary(cl_program_binary_type type, ConstBytes payload);

/// CL_PROGRAM_BINARY_SIZES of each device; 0: there is none.
[[nodiscard]] std::size_t program_binary_bytes(Program& program);
/// The binary. 1 round trip, 0 for a program that was made from a binary and not built yet.
[[nodiscard]] Result<ByteVector> fetch_program_binary(Program& program);

} // namespace farcl::driver
