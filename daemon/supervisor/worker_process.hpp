// One worker as the supervisor sees it: a process, its control channel, its page. It never waits for the worker.
#pragma once

#include "daemon/common/control_messages.hpp"
#include "daemon/common/options.hpp"
#include "daemon/common/worker_page.hpp"
#include "daemon/supervisor/child_process.hpp"
#include "daemon/supervisor/obituary.hpp"
#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace farcl::daemon {

struct WorkerSettings {
  const Options& options;
  std::uint32_t cores = 1;
  bool exposed = false; ///< this daemon listens beyond the machine without keys
};

class WorkerProcess {
public:
  using Clock = std::chrono::steady_clock;

  /// Starts `farcld --worker` with a fresh session id and secret, and no connection yet.
  static Result<std::unique_ptr<WorkerProcess>> start(const WorkerSettings& settings, std::uint32_t number, int permits_fd,
                                                      UniqueFd compile_service);

  /// Hands a connection over. One descriptor for a socket, two for pipes. The first makes the worker a session.
  Status attach(const AttachConnection& message, std::span<const int> fds);
  Status send(const ToWorker& message, std::span<const int> fds = {}) { return send_to_worker(control_.get(), message, fds); }
  /// Reads what the worker has said. A worker that talks nonsense fails here and is to be killed.
  Status read_control();
  /// SIGKILL; the first reason given is the one that its obituary will name.
  void kill(std::string because);

  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] const protocol::SessionId& session() const noexcept { return session_; }
  [[nodiscard]] const SessionSecret& secret() const noexcept { return secret_; }
  [[nodiscard]] const WorkerPage& page() const noexcept { return *page_.memory; }
  [[nodiscard]] ChildProcess& process() noexcept { return process_; }
  [[nodiscard]] int control_fd() const noexcept { return control_.get(); }
  [[nodiscard]] bool serves() const noexcept { return session_number != 0; }
  /// The session is over, orderly or not; only the process is still there.
  [[nodiscard]] bool is_over() const noexcept { return ended_ || killed_because_; }
  [[nodiscard]] const std::optional<SessionEnded>& ended() const noexcept { return ended_; }
  [[nodiscard]] const std::optional<std::string>& killed_because() const noexcept { return killed_because_; }
  /// Since when the worker has been ending, by the supervisor's own clock.
  [[nodiscard]] std::optional<Clock::time_point> ending_since(Clock::time_point now);

  std::uint64_t session_number = 0;             ///< of the session that it serves, for people; 0: in reserve
  std::string peer;                             ///< who opened the session
  net::KeyPtr key;                              ///< the key that he came with; null: none was needed
  std::optional<std::string> dismissed_because; ///< it has been told to end because its key is no longer good
  /// For the log: "session 12 of 10.0.0.7:5555".
  [[nodiscard]] std::string name() const { return "session " + std::to_string(session_number) + " of " + peer; }

private:
  WorkerProcess() = default;
  std::uint32_t number_ = 0;
  protocol::SessionId session_{};
  SessionSecret secret_{};
  ChildProcess process_;
  UniqueFd control_;
  SharedPage<WorkerPage> page_;
  std::optional<SessionEnded> ended_;
  std::optional<std::string> killed_because_;
  std::optional<Clock::time_point> ending_since_;
};

} // namespace farcl::daemon
