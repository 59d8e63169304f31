// A farcl-kc of the test's own, with a cache folder of its own, both gone at the end.
#pragma once

#include "farcl/base/unique_fd.hpp"
#include "farcl/kernel_compiler/client.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace farcl::kernel_compiler::test {

class ServiceProcess {
public:
  explicit ServiceProcess(const std::vector<std::string>& options = {});
  ~ServiceProcess();
  ServiceProcess(const ServiceProcess&) = delete;
  ServiceProcess& operator=(const ServiceProcess&) = delete;

  [[nodiscard]] CompileConnection connect() const;
  /// A raw end, for tests that break the rules.
  [[nodiscard]] UniqueFd connect_raw() const;
  [[nodiscard]] const std::string& cache_folder() const { return cache_folder_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Closes the control socket and waits for the service to end, at most 5 s; false if it did not.
  bool stop();
  /// Number of children of the service that build something.
  [[nodiscard]] int count_builds() const;

private:
  std::string cache_folder_;
  UniqueFd control_;
  pid_t pid_ = -1;
};

} // namespace farcl::kernel_compiler::test
