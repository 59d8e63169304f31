#include "driver/icd/guard.hpp"

#include "farcl/base/config.hpp"
#include "farcl/base/log.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace farcl::driver {
namespace {

thread_local std::uint32_t round_trips_of_call = 0;
std::atomic<CallObserver> call_observer{nullptr};

/// Never destroyed: calls may come after static destructors have run.
const Logger& api_logger() {
  static const Logger& logger = *new Logger("farcl", "api", parse_log_level(read_config().log, LogLevel::kOff));
  return logger;
}

/// Read at every call, so it must not cost more than a load.
bool tracing() noexcept {
  static const bool enabled = [] {
    try {
      return api_logger().enabled(LogLevel::kTrace);
    } catch (...) {
      return false;
    }
  }();
  return enabled;
}

std::int64_t now_ns() noexcept { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void log_failure(Entry entry, const char* what) noexcept {
  try {
    api_logger().error(std::string(describe(entry).name) + ": " + what);
  } catch (...) { // nothing more can be said
  }
}

} // namespace

void count_round_trip() noexcept { ++round_trips_of_call; }

void observe_calls(CallObserver observer) noexcept { call_observer.store(observer, std::memory_order_release); }

namespace detail {

CallScope::CallScope(Entry entry) noexcept : entry_(entry), begin_ns_(tracing() ? now_ns() : 0) { round_trips_of_call = 0; }

cl_int CallScope::end(cl_int code) noexcept {
  if (const CallObserver observer = call_observer.load(std::memory_order_acquire); observer != nullptr) {
    observer(entry_, code, round_trips_of_call);
  }
  if (begin_ns_ != 0) {
    try {
      api_logger().trace(std::string(describe(entry_).name) + " returned " + std::to_string(code) + " after " +
                         std::to_string((now_ns() - begin_ns_) / 1000) + " us and " + std::to_string(round_trips_of_call) + " round trips");
    } catch (...) { // a trace line is not worth a failure
    }
  }
  return code;
}

cl_int code_of_current_exception(Entry entry) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    log_failure(entry, "out of memory");
    return CL_OUT_OF_HOST_MEMORY;
  } catch (const std::length_error&) {
    log_failure(entry, "out of memory");
    return CL_OUT_OF_HOST_MEMORY;
  } catch (const std::exception& error) {
    log_failure(entry, error.what());
    return CL_OUT_OF_RESOURCES;
  } catch (...) {
    log_failure(entry, "an unknown exception");
    return CL_OUT_OF_RESOURCES;
  }
}

} // namespace detail
} // namespace farcl::driver
