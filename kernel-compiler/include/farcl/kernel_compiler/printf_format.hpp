// Turns one printf call of a kernel into the text that the client prints. For FarclLaunch::printf_write.
#pragma once

#include "farcl/kernel_compiler/kernel_abi.h"

#include <string>

namespace farcl::kernel_compiler {

inline constexpr std::size_t kMaxPrintfBytes = 64 * 1024; ///< of one call; more is cut off

/// Everything that OpenCL C 6.15.14 asks for: flags, width, precision, vectors (%v4hlf), hh h l hl lengths, %s, %p.
[[nodiscard]] std::string format_printf(const FarclPrintfRecord& record);

} // namespace farcl::kernel_compiler
