// FlushForecast: whether the program is about to flush or wait, learnt from what it did after its last first commands.
//
// The first command of an idle session is sent at once, so that the server works while the program goes on. A program that launches a
// kernel and waits for it, again and again, gains nothing by that and pays for two writes, of half a round trip each, where one would
// do. So the session watches how soon a flush follows a first command: after kTrust in a row within kSoon, the next first command
// is left to the flush that is about to come. The first time that it does not come, first commands are sent at once again.
//
// Used under the session's state lock.
#pragma once

#include <chrono>

namespace farcl::driver {

class FlushForecast {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kSoon{2};
  static constexpr unsigned kTrust = 4;

  [[nodiscard]] bool expects_flush() const noexcept { return streak_ >= kTrust; }
  /// A first command has been appended, and sent unless expects_flush().
  void first_command(Clock::time_point now) noexcept { since_ = now; }
  /// The program flushes or waits.
  void flushed(Clock::time_point now) noexcept {
    if (since_ != Clock::time_point{}) {
      streak_ = now - since_ <= kSoon ? streak_ + 1 : 0;
      since_ = {};
    }
  }
  /// What was left to a flush has been sent for another reason.
  void missed() noexcept {
    if (since_ != Clock::time_point{} && expects_flush()) {
      streak_ = 0;
      since_ = {};
    }
  }

private:
  Clock::time_point since_{}; ///< a first command that no flush has followed yet; zero: none
  unsigned streak_ = 0;
};

} // namespace farcl::driver
