#include "farcl/base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace farcl {

struct Logger::Sink {
  spdlog::logger logger;
};

namespace {
spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
  case LogLevel::kTrace: return spdlog::level::trace;
  case LogLevel::kDebug: return spdlog::level::debug;
  case LogLevel::kInfo: return spdlog::level::info;
  case LogLevel::kWarn: return spdlog::level::warn;
  case LogLevel::kError: return spdlog::level::err;
  case LogLevel::kOff: return spdlog::level::off;
  }
  return spdlog::level::off;
}
} // namespace

LogLevel parse_log_level(std::string_view text, LogLevel otherwise) {
  constexpr std::pair<std::string_view, LogLevel> kNames[] = {{"trace", LogLevel::kTrace}, {"debug", LogLevel::kDebug},
                                                              {"info", LogLevel::kInfo},   {"warn", LogLevel::kWarn},
                                                              {"error", LogLevel::kError}, {"off", LogLevel::kOff}};
  for (const auto& [name, level] : kNames) {
    if (name == text) {
      return level;
    }
  }
  return otherwise;
}

Logger::Logger(const std::string& program, const std::string& subsystem, LogLevel level)
    : sink_(std::make_unique<Sink>(Sink{spdlog::logger(subsystem, std::make_shared<spdlog::sinks::stderr_sink_mt>())})), level_(level) {
  sink_->logger.set_level(to_spdlog(level));
  sink_->logger.set_pattern("%Y-%m-%d %H:%M:%S.%e " + program + "[%P] %l %n: %v");
}
Logger::~Logger() = default;
Logger::Logger(Logger&&) noexcept = default;
Logger& Logger::operator=(Logger&&) noexcept = default;

void Logger::write(LogLevel level, std::string_view sentence) const {
  if (enabled(level)) {
    sink_->logger.log(to_spdlog(level), spdlog::string_view_t(sentence.data(), sentence.size()));
  }
}

} // namespace farcl
