#include "program_runner.hpp"

#include "farcl/base/unique_fd.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace farcl::tools {

namespace {
constexpr int kForwarded[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGUSR1, SIGUSR2};

sigset_t watched_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (int signal : kForwarded) {
    ::sigaddset(&set, signal);
  }
  return set;
}

[[noreturn]] void exec_program(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                               const sigset_t& old_mask, pid_t parent, int error_fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(kProgramNotFound);
  }
  for (const auto& [name, value] : environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> argv;
  for (const std::string& word : command) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);
  ::sigprocmask(SIG_SETMASK, &old_mask, nullptr);
  ::execvp(argv[0], argv.data());
  const int error = errno;
  if (::write(error_fd, &error, sizeof error) != sizeof error) {
    ::_exit(kProgramNotFound);
  }
  ::_exit(kProgramNotFound);
}

int exit_code(int status) { return WIFSIGNALED(status) ? kKilledBySignal + WTERMSIG(status) : WEXITSTATUS(status); }

// Waits for the program, passing signals on. What the terminal sends (SI_KERNEL) has reached the whole process group already.
int wait_for(pid_t program, const sigset_t& watched) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(program, &status, WNOHANG);
    if (ended == program) {
      return exit_code(status);
    }
    if (ended < 0 && errno != EINTR) {
      return kProgramNotFound;
    }
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&watched, &info);
    if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL) {
      ::kill(program, signal);
    }
  }
}
} // namespace

Result<int> run_program(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment) {
  int error_pipe[2];
  if (::pipe2(error_pipe, O_CLOEXEC) != 0) {
    return fail_errno(errno, "cannot make a pipe");
  }
  UniqueFd error_read(error_pipe[0]);
  UniqueFd error_write(error_pipe[1]);
  const sigset_t watched = watched_signals();
  sigset_t old_mask;
  ::sigprocmask(SIG_BLOCK, &watched, &old_mask);
  const pid_t self = ::getpid();
  const pid_t program = ::fork();
  if (program == 0) {
    exec_program(command, environment, old_mask, self, error_write.get());
  }
  if (program < 0) {
    return fail_errno(errno, "cannot start a process");
  }
  error_write.reset();
  int error = 0;
  const bool failed = ::read(error_read.get(), &error, sizeof error) == sizeof error;
  const int code = wait_for(program, watched);
  if (failed) {
    return fail_errno(error, "cannot run " + command.front());
  }
  return code; // the signals stay blocked: nothing may end us between the program's end and our cleaning up
}

} // namespace farcl::tools
