// The keeper: the process between a PrivateDaemon's owner and its farcld (see private_daemon.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace farcl::tools {

struct KeeperTask {
  std::filesystem::path daemon;       ///< farcld
  std::vector<std::string> arguments; ///< without its name
  std::filesystem::path folder;       ///< removed at the end
  int life_fd = -1;                   ///< read end; its end of file ends us
  int report_fd = -1;                 ///< write end: farcld's standard output is passed on, after one line "pid N"
  bool show_log = false;
};

/// What the keeper process does; never returns.
[[noreturn]] void keep_daemon(const KeeperTask& task);

} // namespace farcl::tools
