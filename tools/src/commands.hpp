// The subcommands of farcl. Each adds itself to the command line; its callback stores the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace farcl::tools {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

/// `program`: what stands behind "--" on the command line.
void add_run_command(CLI::App& app, const std::vector<std::string>& program, int& exit_code);
void add_list_command(CLI::App& app, int& exit_code);
void add_bench_command(CLI::App& app, int& exit_code);
void add_keygen_command(CLI::App& app, int& exit_code);
void add_help_command(CLI::App& app, int& exit_code);
void add_version_command(CLI::App& app, int& exit_code);

} // namespace farcl::tools
