#include "private_server.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace farcl::end_to_end {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {
constexpr auto kReadyLimit = std::chrono::seconds(20);
constexpr auto kStopLimit = std::chrono::seconds(10);

struct ProcessStatus {
  char state = '?';
  pid_t parent = 0;
};

// The two fields behind the name, which may itself contain blanks and parentheses.
bool read_status(pid_t pid, ProcessStatus& status) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line) || line.rfind(')') == std::string::npos) {
    return false;
  }
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  return static_cast<bool>(fields >> status.state >> status.parent);
}

std::string command_line(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
  return {std::istreambuf_iterator<char>(file), {}};
}

pid_t start_daemon(const std::vector<std::string>& arguments, const fs::path& log, int stdout_fd) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  const int log_fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that is killed leaves nothing behind
    ::dup2(stdout_fd, STDOUT_FILENO);
    ::dup2(log_fd, STDERR_FILENO);
    ::close_range(3, ~0U, 0);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(log_fd);
  return pid;
}

// Reads the lines of --print-ports up to "ready".
std::string read_until_ready(int fd, const fs::path& log) {
  std::string text;
  const auto deadline = Clock::now() + kReadyLimit;
  while (text.find("ready\n") == std::string::npos) {
    pollfd wait{fd, POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    char bytes[1024];
    const ssize_t got = left > 0 && ::poll(&wait, 1, static_cast<int>(left)) == 1 ? ::read(fd, bytes, sizeof bytes) : 0;
    if (got <= 0) {
      std::ifstream file(log);
      throw std::runtime_error("farcld did not get ready: " + text + std::string(std::istreambuf_iterator<char>(file), {}));
    }
    text.append(bytes, static_cast<std::size_t>(got));
  }
  return text;
}
} // namespace

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

bool process_exists(pid_t pid) {
  ProcessStatus status;
  return read_status(pid, status) && status.state != 'Z' && status.state != 'X';
}

TestFolder::TestFolder() {
  std::string name = "/tmp/farcl-e2e-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot make " + name);
  }
  path_ = name;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

PrivateServer::PrivateServer(std::vector<std::string> further_arguments) {
  std::vector<std::string> arguments{FARCL_DAEMON_PATH, "--print-ports", "--unix",  socket_path(),
                                     "--listen",        "127.0.0.1:0",   "--cache", (folder_.path() / "cache").string()};
  arguments.insert(arguments.end(), further_arguments.begin(), further_arguments.end());
  int output[2];
  if (::pipe2(output, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  pid_ = start_daemon(arguments, folder_.path() / "log", output[1]);
  ::close(output[1]);
  std::istringstream lines(read_until_ready(output[0], folder_.path() / "log"));
  ::close(output[0]);
  for (std::string line; std::getline(lines, line);) {
    if (line != "ready" && !line.starts_with("unix:")) {
      tcp_address_ = line;
    }
  }
}

PrivateServer::~PrivateServer() {
  if (pid_ > 0) {
    (void)stop_gently();
  }
}

bool PrivateServer::is_alive() const { return pid_ > 0 && process_exists(pid_); }

std::vector<pid_t> PrivateServer::descendants() const {
  std::map<pid_t, pid_t> parents;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    ProcessStatus status;
    if (pid > 0 && read_status(pid, status) && status.state != 'Z') {
      parents[pid] = status.parent;
    }
  }
  std::vector<pid_t> found;
  for (const auto& [pid, parent] : parents) {
    for (pid_t above = parent; above > 1; above = parents.contains(above) ? parents[above] : 0) {
      if (above == pid_) {
        found.push_back(pid);
        break;
      }
    }
  }
  return found;
}

std::vector<pid_t> PrivateServer::workers() const {
  std::vector<pid_t> found;
  for (pid_t pid : descendants()) {
    if (command_line(pid).find("worker") != std::string::npos) {
      found.push_back(pid);
    }
  }
  return found;
}

std::string PrivateServer::log() const {
  std::ifstream file(folder_.path() / "log");
  return {std::istreambuf_iterator<char>(file), {}};
}

void PrivateServer::kill_hard() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int PrivateServer::stop_gently() {
  ::kill(pid_, SIGTERM);
  int status = 0;
  const bool ended = eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, kStopLimit);
  if (!ended) {
    kill_hard();
    return -1;
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace farcl::end_to_end
