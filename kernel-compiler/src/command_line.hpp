#pragma once

namespace farcl::kernel_compiler {

/// What farcl-kc does; returns its exit code.
int run_command_line(int argc, char** argv);

} // namespace farcl::kernel_compiler
