// Keeps what strangers can trigger from filling the log: a few lines, then a count.
#pragma once

#include "farcl/base/log.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace farcl::daemon {

class RateLimitedLog {
public:
  static constexpr std::uint32_t kLinesPerPeriod = 10;
  static constexpr std::chrono::seconds kPeriod{10};

  explicit RateLimitedLog(const Logger& logger) : logger_(logger) {}

  void write(LogLevel level, std::string_view sentence) {
    const auto now = std::chrono::steady_clock::now();
    if (now - period_start_ >= kPeriod) {
      period_start_ = now;
      lines_ = 0;
    }
    if (lines_ >= kLinesPerPeriod) {
      ++suppressed_;
      return;
    }
    ++lines_;
    std::string line(sentence);
    if (suppressed_ != 0) {
      line += " (" + std::to_string(suppressed_) + " more like this were not written)";
      suppressed_ = 0;
    }
    logger_.write(level, line);
  }

private:
  const Logger& logger_;
  std::chrono::steady_clock::time_point period_start_{};
  std::uint32_t lines_ = 0;
  std::uint64_t suppressed_ = 0;
};

} // namespace farcl::daemon
