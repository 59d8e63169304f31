#pragma once

#include "farcl/base/kernel_info.hpp"

#include <string>

namespace farcl::kernel_compiler {

/// What --dump-info prints: one line per kernel, one per argument.
[[nodiscard]] std::string text_report(const ProgramInfo& info);

} // namespace farcl::kernel_compiler
