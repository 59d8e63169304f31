#include "ssh_process.hpp"

#include "name_rules.hpp"
#include "sleep.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>

extern char** environ;

namespace farcl::net {

namespace {
constexpr auto kLeaveTime = std::chrono::milliseconds(300); ///< after the end of its input
constexpr auto kTermTime = std::chrono::milliseconds(500);  ///< after SIGTERM
constexpr auto kKillTime = std::chrono::milliseconds(1000); ///< after SIGKILL: only a stuck kernel needs it
constexpr auto kLookEvery = std::chrono::milliseconds(2);
constexpr int kUnknownStatus = -1;

/// True when the child has ended (or is not ours to wait for).
bool reap(pid_t pid, std::chrono::milliseconds patience, int& status) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    const pid_t got = ::waitpid(pid, &status, WNOHANG);
    if (got == pid) {
      return true;
    }
    if (got < 0 && errno != EINTR) {
      status = kUnknownStatus;
      return true;
    }
    if (Clock::now() >= deadline) {
      return false;
    }
    std::this_thread::sleep_for(kLookEvery);
  }
}

/// posix_spawn's two objects, freed in any case.
class SpawnPlan {
public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  /// Standard input and output become `socket`; signals as a new program expects them; a process group of its own, so that
  /// Ctrl-C reaches the program and not the connection that it still needs to say goodbye.
  bool prepare(int socket) {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    return ::posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO) == 0 &&
           ::posix_spawn_file_actions_adddup2(&actions_, socket, STDOUT_FILENO) == 0 &&
           ::posix_spawnattr_setsigmask(&attributes_, &none) == 0 && ::posix_spawnattr_setsigdefault(&attributes_, &all) == 0 &&
           ::posix_spawnattr_setpgroup(&attributes_, 0) == 0 &&
           ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP) == 0;
  }
  int spawn(pid_t& pid, const std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    for (const std::string& argument : arguments) {
      pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    return ::posix_spawnp(&pid, pointers[0], &actions_, &attributes_, pointers.data(), environ);
  }

private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};
} // namespace

ChildProcess::ChildProcess(pid_t pid) noexcept : pid_(pid), parent_(::getpid()) {}
ChildProcess::ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)), parent_(other.parent_) {}
ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, -1);
    parent_ = other.parent_;
  }
  return *this;
}

int ChildProcess::end() noexcept {
  int status = kUnknownStatus;
  if (pid_ > 0 && ::getpid() == parent_ && !reap(pid_, kLeaveTime, status)) {
    ::kill(pid_, SIGTERM);
    if (!reap(pid_, kTermTime, status)) {
      ::kill(pid_, SIGKILL);
      (void)reap(pid_, kKillTime, status);
    }
  }
  pid_ = -1;
  return status;
}

Result<std::vector<std::string>> ssh_arguments(const ServerAddress& address, const ConnectOptions& options) {
  const bool host_fine = is_safe_host_name(address.host) || is_safe_v6_text(address.host);
  if (!host_fine || (!address.user.empty() && !is_safe_user_name(address.user))) {
    return fail(ErrorCode::kInvalid, "that host or user name cannot be given to ssh");
  }
  std::vector<std::string> arguments;
  std::istringstream words(options.ssh_command);
  for (std::string word; words >> word;) {
    arguments.push_back(word);
  }
  if (arguments.empty()) {
    return fail(ErrorCode::kInvalid, "FARCL_SSH names no program");
  }
  if (options.ssh_daemon.empty() || options.ssh_daemon.front() == '-') {
    return fail(ErrorCode::kInvalid, "FARCL_SSH_DAEMON names no program");
  }
  // No question on the program's terminal, no pseudo terminal that would change bytes.
  arguments.insert(arguments.end(), {"-o", "BatchMode=yes", "-T"});
  if (address.port != 0) {
    arguments.insert(arguments.end(), {"-p", std::to_string(address.port)});
  }
  arguments.push_back(address.user.empty() ? address.host : address.user + "@" + address.host);
  arguments.push_back(options.ssh_daemon + " --stdio");
  return arguments;
}

Result<SshConnection> start_ssh(const std::vector<std::string>& arguments) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail_errno(errno, "no socket for ssh could be made");
  }
  SshConnection connection;
  connection.socket.reset(ends[0]);
  UniqueFd child_end(ends[1]);
  if (child_end.get() <= STDERR_FILENO) { // the program runs without standard streams: stay clear of their numbers
    child_end.reset(::fcntl(child_end.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }
  SpawnPlan plan;
  if (!child_end || !plan.prepare(child_end.get())) {
    return fail(ErrorCode::kOutOfMemory, "ssh could not be prepared");
  }
  pid_t pid = -1;
  if (const int error = plan.spawn(pid, arguments); error != 0) {
    auto failure = fail_errno(error, "the program '" + arguments[0] + "' could not be started");
    failure.value().code = ErrorCode::kDisconnected;
    return failure;
  }
  connection.process = ChildProcess(pid);
  return connection;
}

std::string explain_ssh_end(int wait_status, const ConnectOptions& options) {
  if (wait_status != kUnknownStatus && WIFEXITED(wait_status)) {
    switch (WEXITSTATUS(wait_status)) {
    case 127: return "there is no '" + options.ssh_daemon + "' on that machine; FARCL_SSH_DAEMON can name its path";
    case 255: return "ssh could not connect (its own words are above); it must work without a question: ssh -o BatchMode=yes";
    default: return "ssh ended with exit status " + std::to_string(WEXITSTATUS(wait_status));
    }
  }
  return "ssh ended before the daemon answered";
}

} // namespace farcl::net
