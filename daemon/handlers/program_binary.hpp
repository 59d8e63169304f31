// The bytes behind CL_PROGRAM_BINARIES: a builder's binary in an envelope that says whose it is and that it is whole.
#pragma once

#include "daemon/device/device.hpp"

namespace farcl::daemon {

struct OpenedBinary {
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
  ConstBytes contents; ///< a view into what was opened
};

[[nodiscard]] ByteVector seal_binary(const std::string& builder, cl_program_binary_type type, ConstBytes contents);
[[nodiscard]] std::size_t sealed_bytes(const std::string& builder, std::size_t contents_bytes);
/// Fails with a sentence when the bytes are not a whole binary of this builder.
[[nodiscard]] Result<OpenedBinary> open_binary(const std::string& builder, ConstBytes sealed);

} // namespace farcl::daemon
