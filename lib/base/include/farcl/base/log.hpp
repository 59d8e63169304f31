// Logging: one named logger per subsystem, made and owned by whoever needs it; never spdlog's global registry.
//
// The driver's loggers are silent unless FARCL_LOG asks for more (the one warning per server goes through
// `warn_once`-style calls of the driver itself). The daemon logs to stderr. Thread safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace farcl {

enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError, kOff };

/// "trace", "debug", "info", "warn", "error" or "off"; anything else gives `otherwise`.
[[nodiscard]] LogLevel parse_log_level(std::string_view text, LogLevel otherwise);

class Logger {
public:
  /// Writes to stderr, one line per message: "2026-11-30 14:21:18.123 farcld info session: session 12 started".
  Logger(const std::string& program, const std::string& subsystem, LogLevel level);
  ~Logger();
  Logger(Logger&&) noexcept;
  Logger& operator=(Logger&&) noexcept;

  [[nodiscard]] bool enabled(LogLevel level) const noexcept { return level >= level_; }
  void write(LogLevel level, std::string_view sentence) const;

  void error(std::string_view sentence) const { write(LogLevel::kError, sentence); }
  void warn(std::string_view sentence) const { write(LogLevel::kWarn, sentence); }
  void info(std::string_view sentence) const { write(LogLevel::kInfo, sentence); }
  void debug(std::string_view sentence) const { write(LogLevel::kDebug, sentence); }
  void trace(std::string_view sentence) const { write(LogLevel::kTrace, sentence); }

private:
  struct Sink;
  std::unique_ptr<Sink> sink_;
  LogLevel level_;
};

} // namespace farcl
