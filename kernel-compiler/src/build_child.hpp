// One build in a process of its own: forked from the warm service, watched by it, killed at its time limit.
//
// A third of a small build is page faults: a forked child has to map what its parent has mapped, and to copy what it writes to. So a child
// may be made before there is a request, go through all parts of the compiler once, and wait. It gets one request and ends.
#pragma once

#include "compiler.hpp"
#include "sandbox.hpp"

#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/kernel_compiler/messages.hpp"

#include <chrono>

namespace farcl::kernel_compiler {

class BuildChild {
public:
  /// Forks. `warm`: it makes itself warm first, and says so.
  static Result<BuildChild> prepare(Compiler& compiler, const BuildLimits& limits, bool warm);
  /// It is warm, and alive.
  [[nodiscard]] bool is_ready() const;
  [[nodiscard]] bool has_ended() const;
  /// The one request that it gets. `may_optimise` false: the second try, after a time-out or a crash.
  Status give(const CompileRequest& request, bool may_optimise);
  BuildChild(BuildChild&& other) noexcept;
  BuildChild& operator=(BuildChild&& other) noexcept;
  /// Kills the child if it still runs.
  ~BuildChild();

  /// Readable for poll once the child has ended.
  [[nodiscard]] int fd() const { return process_.get(); }
  [[nodiscard]] std::chrono::steady_clock::time_point deadline() const { return deadline_; }

  struct Outcome {
    CompileReplyData data;
    UniqueFd shared_object;     ///< sealed, if data.has_shared_object
    double processor_ms = 0;    ///< that the child used
    bool compiler_died = false; ///< crash or time-out: a second try without optimisation may help
  };
  /// After fd() became readable, or after the deadline: then the child is killed first.
  Outcome finish(bool timed_out);

private:
  BuildChild() = default;
  void kill_and_reap();
  Outcome died(const std::string& how) const;

  pid_t pid_ = -1;
  UniqueFd process_;
  UniqueFd talk_;  ///< a byte from the child: warm; a byte to it: the request is there
  UniqueFd order_; ///< memory file with the request
  UniqueFd reply_;
  UniqueFd shared_object_;
  std::chrono::steady_clock::time_point deadline_;
  std::chrono::seconds limit_{};
};

} // namespace farcl::kernel_compiler
