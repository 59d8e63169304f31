// Network namespaces of a test's own. They have no names: each lives as long as its descriptor and the processes in it, so nothing
// is left behind, however the test ends.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"

#include <functional>
#include <string>

namespace farcl::netns {

class Namespace {
public:
  /// A new one, with its loopback up. Needs root.
  [[nodiscard]] static Result<Namespace> make();

  /// Runs on a thread that is in the namespace; whatever it opens or starts belongs there.
  [[nodiscard]] Status run(const std::function<Status()>& function) const;
  /// Moves the calling thread, and what it starts from now on.
  [[nodiscard]] Status enter() const;
  /// A TUN device with this address in a network of 24 bits, up, with room for a long queue.
  [[nodiscard]] Result<UniqueFd> open_tun(const std::string& address) const;
  /// Writes /proc/sys/net/ipv4/<name> as the namespace sees it.
  [[nodiscard]] Status set_ipv4(const std::string& name, const std::string& value) const;

private:
  explicit Namespace(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

} // namespace farcl::netns
