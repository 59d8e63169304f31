// PrivateDaemon: a farcld of our own, in a private folder, that never outlives us.
//
// Processes: this one, its child the keeper, and the keeper's child farcld. The keeper has a session of its own, so that
// neither the terminal nor a kill of our process group reaches it; it holds one end of a pipe whose other end only this process
// has. When that end closes, however this process ended, the keeper stops farcld and removes the folder. Should the keeper be
// killed, farcld gets SIGTERM from the kernel; this process waits for its end and removes the folder.
#pragma once

#include "farcl/base/unique_fd.hpp"
#include "temporary_folder.hpp"

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

namespace farcl::tools {

struct PrivateDaemonOptions {
  bool listen_on_tcp = false;         ///< on a free port of loopback, beside the Unix socket
  bool show_log = false;              ///< farcld's log goes to our stderr, else to a file in the folder
  std::vector<std::string> arguments; ///< further arguments of farcld
  std::chrono::milliseconds start_timeout{15000};
};

class PrivateDaemon {
public:
  /// Returns when farcld takes connections. Call it before the process has threads: it forks.
  [[nodiscard]] static Result<PrivateDaemon> start(const PrivateDaemonOptions& options);

  PrivateDaemon(PrivateDaemon&& other) noexcept;
  PrivateDaemon& operator=(PrivateDaemon&&) = delete;
  ~PrivateDaemon() { stop(); }

  /// Stops farcld and waits until it and its folder are gone; at most a few seconds.
  void stop() noexcept;

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }
  [[nodiscard]] pid_t pid() const noexcept { return daemon_; }
  [[nodiscard]] std::string unix_address() const { return "unix:" + (folder_.path() / "socket").string(); }
  [[nodiscard]] const std::string& tcp_address() const noexcept { return tcp_address_; } ///< empty without listen_on_tcp

private:
  PrivateDaemon(TemporaryFolder folder, UniqueFd life, pid_t keeper)
      : folder_(std::move(folder)), life_(std::move(life)), keeper_(keeper) {}
  Status wait_until_ready(int report_fd, std::chrono::milliseconds timeout);

  TemporaryFolder folder_;
  UniqueFd life_;
  pid_t keeper_ = -1;
  pid_t daemon_ = -1;
  UniqueFd daemon_handle_; ///< a pidfd of farcld: it is not our child, and its number may be somebody else's when it has ended
  std::string tcp_address_;
};

} // namespace farcl::tools
