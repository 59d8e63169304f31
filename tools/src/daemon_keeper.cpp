#include "daemon_keeper.hpp"

#include "farcl/base/unique_fd.hpp"
#include "temporary_folder.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace farcl::tools {

namespace {
constexpr int kStopTimeoutMs = 5000; ///< from SIGTERM to SIGKILL
constexpr int kExecFailed = 127;

void point_at(int fd, const char* path, int flags) {
  const int opened = ::open(path, flags | O_CLOEXEC, 0600);
  if (opened >= 0 && opened != fd) {
    ::dup2(opened, fd);
    ::close(opened);
  }
}

// Leaves the terminal, its signals, and every descriptor that is not ours: a reader of our owner's pipes must not wait for us.
void detach(const KeeperTask& task) {
  ::setsid();
  ::prctl(PR_SET_NAME, "farcl-keeper");
  for (int signal : {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2}) {
    ::signal(signal, SIG_IGN);
  }
  const int low = std::min(task.life_fd, task.report_fd);
  const int high = std::max(task.life_fd, task.report_fd);
  ::close_range(3, static_cast<unsigned>(low - 1), 0);
  ::close_range(static_cast<unsigned>(low + 1), static_cast<unsigned>(high - 1), 0);
  ::close_range(static_cast<unsigned>(high + 1), ~0U, 0);
  point_at(STDIN_FILENO, "/dev/null", O_RDONLY);
  point_at(STDOUT_FILENO, "/dev/null", O_WRONLY);
  if (!task.show_log) {
    point_at(STDERR_FILENO, (task.folder / "farcld.log").c_str(), O_WRONLY | O_CREAT | O_APPEND);
  }
  if (::chdir("/") != 0) { // a private daemon must keep no file system busy; if it does, no harm
    return;
  }
}

[[noreturn]] void exec_daemon(const KeeperTask& task, pid_t keeper, int stdout_fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != keeper) {
    ::_exit(kExecFailed);
  }
  ::dup2(stdout_fd, STDOUT_FILENO);
  ::close_range(3, ~0U, 0);
  for (int signal : {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2}) {
    ::signal(signal, SIG_DFL);
  }
  std::vector<char*> argv{const_cast<char*>(task.daemon.c_str())};
  for (const std::string& argument : task.arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  ::execv(task.daemon.c_str(), argv.data());
  ::dprintf(STDERR_FILENO, "cannot start %s: %s\n", task.daemon.c_str(), std::strerror(errno));
  ::_exit(kExecFailed);
}

// Passes farcld's standard output on until our owner is gone. Output that the owner no longer reads is dropped.
void serve(const KeeperTask& task, UniqueFd output) {
  UniqueFd report(task.report_fd);
  for (;;) {
    pollfd waits[] = {{task.life_fd, POLLIN, 0}, {output.get(), POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) {
      return;
    }
    if (waits[0].revents != 0) {
      return;
    }
    if (waits[1].revents != 0) {
      char buffer[4096];
      const ssize_t got = ::read(output.get(), buffer, sizeof buffer);
      if (got <= 0) { // farcld has ended: the owner learns it from the report's end, the program from its driver
        output.reset();
        report.reset();
      } else if (report && ::write(report.get(), buffer, static_cast<std::size_t>(got)) < 0) {
        report.reset();
      }
    }
  }
}

void stop(pid_t daemon) {
  const UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, daemon, 0)));
  ::kill(daemon, SIGTERM);
  pollfd wait{handle.get(), POLLIN, 0};
  if (::poll(&wait, 1, kStopTimeoutMs) != 1) {
    ::kill(daemon, SIGKILL);
  }
  while (::waitpid(daemon, nullptr, 0) < 0 && errno == EINTR) {
  }
}
} // namespace

void keep_daemon(const KeeperTask& task) {
  detach(task);
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) {
    ::_exit(1);
  }
  const pid_t self = ::getpid();
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    exec_daemon(task, self, pipe_fds[1]);
  }
  ::close(pipe_fds[1]);
  if (daemon > 0) {
    ::dprintf(task.report_fd, "pid %d\n", daemon);
    serve(task, UniqueFd(pipe_fds[0]));
    stop(daemon);
  }
  remove_folder(task.folder);
  ::_exit(0);
}

} // namespace farcl::tools
