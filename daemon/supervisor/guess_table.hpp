// Who has come with a wrong key, how often, and what that costs him: his answers take longer and longer, then he is shut out for a
// while. Nobody else notices.
//
// Bounded: when the table is full, the source that has been quiet for longest is forgotten.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <string>

namespace farcl::daemon {

class GuessTable {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMaxSources = 4096;
  static constexpr unsigned kFailuresBeforeBan = 10;
  static constexpr std::chrono::milliseconds kFirstDelay{10}; ///< doubles with each failure
  static constexpr std::chrono::milliseconds kLongestDelay{1000};
  static constexpr std::chrono::seconds kBan{60};
  static constexpr std::chrono::minutes kForgetAfter{10}; ///< without a failure

  /// Notes a failure; returns for how long its answer is to be held back.
  Clock::duration failed(const std::string& source, Clock::time_point now);
  /// A right key: what was before it is forgotten.
  void succeeded(const std::string& source);
  /// Zero: not shut out. Else for how long still.
  [[nodiscard]] Clock::duration banned_for(const std::string& source, Clock::time_point now) const;
  [[nodiscard]] std::size_t size() const noexcept { return by_source_.size(); }

private:
  struct Entry {
    std::string source;
    unsigned failures = 0;
    Clock::time_point last;
    Clock::time_point banned_until;
  };
  using Entries = std::list<Entry>;
  Entries entries_; ///< the one whose last failure is longest ago first
  std::map<std::string, Entries::iterator> by_source_;
};

} // namespace farcl::daemon
