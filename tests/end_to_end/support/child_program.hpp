// A program run beside the test: its output, its end, and how long it took.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace farcl::end_to_end {

struct ProgramEnd {
  bool in_time = false; ///< false: it had to be killed, and the rest says what it had done until then
  int exit_code = -1;   ///< 128 plus the signal's number if it died of one
  double seconds = 0;
  std::string out;
  std::string err;
};

class ChildProgram {
public:
  /// Runs `command` with FarCL as its only platform and `servers` in POCL_REMOTE_SERVERS.
  ChildProgram(const std::vector<std::string>& command, const std::string& servers,
               const std::map<std::string, std::string>& environment = {});
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Waits until its standard output contains `text`; false if that does not happen in time.
  [[nodiscard]] bool wait_for_output(const std::string& text, std::chrono::seconds limit);
  [[nodiscard]] const std::string& output() const { return out_text_; } ///< what has been seen of it so far
  [[nodiscard]] ProgramEnd wait(std::chrono::seconds limit);

private:
  bool drain(int milliseconds);

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::chrono::steady_clock::time_point begin_;
  std::string out_text_;
  std::string err_text_;
};

/// Starts and waits.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& command, const std::string& servers, std::chrono::seconds limit,
                                     const std::map<std::string, std::string>& environment = {});
/// The command that runs mode `mode` of programs/client_program.cpp.
[[nodiscard]] std::vector<std::string> client(const std::string& mode, const std::vector<std::string>& further = {});

} // namespace farcl::end_to_end
