#include "driver/program/program_binary.hpp"

#include "farcl/protocol/limits.hpp"

#include <gtest/gtest.h>

namespace farcl::driver {
namespace {

ByteVector payload() { return {std::byte{1}, std::byte{2}, std::byte{3}}; }

TEST(ProgramBinary, ComesBackAsItWas) {
  for (const cl_program_binary_type type :
       {CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, CL_PROGRAM_BINARY_TYPE_LIBRARY, CL_PROGRAM_BINARY_TYPE_EXECUTABLE}) {
    const ByteVector bytes = make_program_binary(type, payload());
    EXPECT_EQ(bytes.size(), kProgramBinaryHeaderBytes + 3);
    const auto parsed = parse_program_binary(bytes);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->type, type);
    EXPECT_EQ(ByteVector(parsed->payload.begin(), parsed->payload.end()), payload());
  }
}

TEST(ProgramBinary, RefusesWhatIsNotOurs) {
  const ByteVector good = make_program_binary(CL_PROGRAM_BINARY_TYPE_EXECUTABLE, payload());
  for (std::size_t length = 0; length <= kProgramBinaryHeaderBytes; ++length) { // cut anywhere, also to nothing but the header
    EXPECT_FALSE(parse_program_binary(ConstBytes(good).first(length))) << length;
  }
  for (std::size_t i = 0; i < kProgramBinaryHeaderBytes; ++i) { // each byte of the header counts
    ByteVector bad = good;
    bad[i] ^= std::byte{0x80};
    EXPECT_FALSE(parse_program_binary(bad)) << i;
  }
  const ByteVector huge = make_program_binary(CL_PROGRAM_BINARY_TYPE_EXECUTABLE, ByteVector(protocol::kMaxProgramBinaryBytes + 1));
  EXPECT_FALSE(parse_program_binary(huge));
}

} // namespace
} // namespace farcl::driver
