// How a worker died, for people, and the table of the dead that returning clients ask.
#pragma once

#include "daemon/common/worker_page.hpp"
#include "daemon/supervisor/child_process.hpp"
#include "farcl/net/hello_seal.hpp"
#include "farcl/protocol/ids.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace farcl::daemon {

using net::SessionSecret;

/// "kernel 'wild' crashed (segmentation fault)", "the session's process was killed (signal 9)": without a full stop.
[[nodiscard]] std::string describe_death(const ChildEnd& end, const WorkerPage& page);
/// "kernel 'spin'", "kernels 'a' and 2 more", or empty when none runs.
[[nodiscard]] std::string describe_running(const WorkerPage& page);

/// Bounded in number and in time; the oldest gives way.
class ObituaryTable {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMaxObituaries = 1024;

  explicit ObituaryTable(std::chrono::seconds keep_for) : keep_for_(keep_for) {}
  void add(const protocol::SessionId& session, const SessionSecret& secret, std::string sentence, Clock::time_point now);
  /// The sentence, if the session is known and the hello proves that it is its sender's own.
  [[nodiscard]] std::optional<std::string> find(const protocol::SessionId& session, const protocol::HelloBytes& hello,
                                                Clock::time_point now);

private:
  struct Obituary {
    protocol::SessionId session{};
    SessionSecret secret{};
    std::string sentence;
    Clock::time_point forget_at;
  };
  std::chrono::seconds keep_for_;
  std::deque<Obituary> obituaries_; ///< in the order of forget_at
};

} // namespace farcl::daemon
