// The user's ssh as a child process whose standard input and output are a connection to a daemon on another machine.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/net/connect.hpp"

#include <sys/types.h>

namespace farcl::net {

/// A child process; ends it when it goes out of scope, unless this is a forked copy of the program that started it.
class ChildProcess {
public:
  ChildProcess() = default;
  explicit ChildProcess(pid_t pid) noexcept;
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess() { end(); }

  /// Waits for its end, a bounded time: a moment for it to leave by itself, then SIGTERM, then SIGKILL. Its wait status, or
  /// -1 when that cannot be had (the program reaps children itself).
  int end() noexcept;

private:
  pid_t pid_ = -1;
  pid_t parent_ = -1;
};

struct SshConnection {
  UniqueFd socket;
  ChildProcess process;
};

/// The command line for an address. Fails when a part of it could be taken for an option.
[[nodiscard]] Result<std::vector<std::string>> ssh_arguments(const ServerAddress& address, const ConnectOptions& options);
[[nodiscard]] Result<SshConnection> start_ssh(const std::vector<std::string>& arguments);
/// What the wait status of an ssh that ended early means, for people.
[[nodiscard]] std::string explain_ssh_end(int wait_status, const ConnectOptions& options);

} // namespace farcl::net
