// Runs a program in the foreground as if the shell had started it, but stays to clean up after it.
#pragma once

#include "farcl/base/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace farcl::tools {

inline constexpr int kProgramNotFound = 127;
inline constexpr int kProgramNotExecutable = 126;
inline constexpr int kKilledBySignal = 128; ///< plus the signal's number

/// Runs `command` (a name looked up in PATH, then its arguments) with `environment` added to ours, in our process group, so that
/// the terminal's job control works on both. Signals sent to this process alone are passed on. The program is killed if this
/// process is. Returns the exit code a shell would show, or an error when the program could not be started (with
/// system_errno).
[[nodiscard]] Result<int> run_program(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment);

} // namespace farcl::tools
