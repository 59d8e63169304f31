// A farcld of the test's own: free ports, a temporary folder, everything killed and removed at the end.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace farcl::end_to_end {

/// A folder in /tmp that goes with everything in it.
class TestFolder {
public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

class PrivateServer {
public:
  /// Starts farcld on a Unix socket and a free TCP port of loopback; throws std::runtime_error if it does not get ready.
  explicit PrivateServer(std::vector<std::string> further_arguments = {});
  ~PrivateServer();
  PrivateServer(const PrivateServer&) = delete;
  PrivateServer& operator=(const PrivateServer&) = delete;

  [[nodiscard]] std::string unix_address() const { return "unix:" + socket_path(); }
  [[nodiscard]] std::string socket_path() const { return (folder_.path() / "socket").string(); }
  [[nodiscard]] const std::string& tcp_address() const { return tcp_address_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool is_alive() const;
  /// The processes below farcld, at any depth.
  [[nodiscard]] std::vector<pid_t> descendants() const;
  /// The worker processes: one per session (and perhaps one that is started ahead).
  [[nodiscard]] std::vector<pid_t> workers() const;
  [[nodiscard]] std::string log() const;

  void kill_hard();                ///< SIGKILL, and waits for its end
  [[nodiscard]] int stop_gently(); ///< SIGTERM; the exit code, -1 when it had to be killed

private:
  TestFolder folder_;
  std::string tcp_address_;
  pid_t pid_ = -1;
};

/// Waits until `condition` holds; false if it does not within `limit`.
template <class Condition>
[[nodiscard]] bool eventually(Condition&& condition, std::chrono::milliseconds limit);
void sleep_ms(int milliseconds);

template <class Condition>
bool eventually(Condition&& condition, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    sleep_ms(10);
  }
  return true;
}

/// Processes that are there (zombies not counted).
[[nodiscard]] bool process_exists(pid_t pid);

} // namespace farcl::end_to_end
