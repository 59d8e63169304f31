// Starting a child by exec with exactly the intended descriptors and limits, and seeing it end.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace farcl::daemon {

/// Descriptor 0 and 1 are /dev/null, 2 is ours, `fds` become 3, 4, ...; nothing else is open. The child is a session and a
/// process group of its own, dies with its parent, writes no core, and starts with default signals except an ignored SIGPIPE.
struct ChildSpec {
  std::string path;
  std::vector<std::string> arguments; ///< the first is the name it gets
  std::vector<int> fds;
  std::uint64_t data_limit_bytes = 0; ///< RLIMIT_DATA; 0: none
  int oom_score_above_parent = 0;     ///< who goes first when the machine's memory is used up
};

struct ChildEnd {
  bool by_signal = false;
  int value = 0; ///< the signal or the exit code
};

class ChildProcess {
public:
  ChildProcess() = default;
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)), pid_fd_(std::move(other.pid_fd_)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(pid_fd_, other.pid_fd_);
    return *this;
  }
  /// Kills it if it has not been reaped; never waits.
  ~ChildProcess();

  /// Must be called on the thread that lives as long as the process: the parent-death signal follows the thread.
  static Result<ChildProcess> spawn(const ChildSpec& spec);

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Readable when it has ended.
  [[nodiscard]] int pid_fd() const noexcept { return pid_fd_.get(); }
  void signal(int number) const noexcept;
  /// Whatever it has started in its process group goes with it.
  void kill_group() const noexcept;
  /// Reaps it. Call once pid_fd() is readable; kTimeout when it still runs.
  Result<ChildEnd> reap();

private:
  pid_t pid_ = -1;
  UniqueFd pid_fd_;
};

} // namespace farcl::daemon
