#include "child_program.hpp"

#include "private_server.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace farcl::end_to_end {

using Clock = std::chrono::steady_clock;

ChildProgram::ChildProgram(const std::vector<std::string>& command, const std::string& servers,
                           const std::map<std::string, std::string>& environment)
    : begin_(Clock::now()) {
  int out[2];
  int err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  std::vector<char*> argv;
  for (const std::string& word : command) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    ::close_range(3, ~0U, 0);
    ::setenv("POCL_REMOTE_SERVERS", servers.c_str(), 1);
    ::setenv("OCL_ICD_VENDORS", FARCL_VENDORS_PATH, 1);
    for (const auto& [name, value] : environment) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(out[1]);
  ::close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

ChildProgram::~ChildProgram() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_);
  ::close(err_);
}

void ChildProgram::signal(int number) const { ::kill(pid_, number); }

// Takes what the program has written; waits at most so long for something. False when both pipes have ended.
bool ChildProgram::drain(int milliseconds) {
  pollfd waits[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  ::poll(waits, 2, milliseconds);
  bool open = false;
  std::string* texts[] = {&out_text_, &err_text_};
  for (int i = 0; i < 2; ++i) {
    if (waits[i].revents == 0) {
      open = true;
      continue;
    }
    char bytes[4096];
    const ssize_t got = ::read(waits[i].fd, bytes, sizeof bytes);
    if (got > 0) {
      texts[i]->append(bytes, static_cast<std::size_t>(got));
      open = true;
    } else if (got < 0 && errno == EINTR) {
      open = true;
    }
  }
  return open;
}

bool ChildProgram::wait_for_output(const std::string& text, std::chrono::seconds limit) {
  const auto deadline = Clock::now() + limit;
  while (out_text_.find(text) == std::string::npos) {
    if (Clock::now() > deadline || !drain(20)) {
      return out_text_.find(text) != std::string::npos;
    }
  }
  return true;
}

// The program's end counts, not that of its pipes: a child of it may hold them open.
ProgramEnd ChildProgram::wait(std::chrono::seconds limit) {
  ProgramEnd end;
  const auto deadline = begin_ + limit;
  int status = 0;
  end.in_time = true;
  while (::waitpid(pid_, &status, WNOHANG) != pid_) {
    if (Clock::now() > deadline) {
      end.in_time = false;
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
      break;
    }
    if (!drain(5)) {
      sleep_ms(1);
    }
  }
  end.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  while (drain(0)) {
    pollfd waits[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
    if (::poll(waits, 2, 0) == 0) {
      break;
    }
  }
  pid_ = -1;
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end.out = out_text_;
  end.err = err_text_;
  return end;
}

ProgramEnd run_program(const std::vector<std::string>& command, const std::string& servers, std::chrono::seconds limit,
                       const std::map<std::string, std::string>& environment) {
  ChildProgram program(command, servers, environment);
  return program.wait(limit);
}

std::vector<std::string> client(const std::string& mode, const std::vector<std::string>& further) {
  std::vector<std::string> command{FARCL_CLIENT_PROGRAM, mode};
  command.insert(command.end(), further.begin(), further.end());
  return command;
}

} // namespace farcl::end_to_end
