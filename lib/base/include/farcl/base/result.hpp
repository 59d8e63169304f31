// Errors are values: every function that can fail for a reason outside the program returns Result<T>.
//
// Three kinds of failure never mix (docs/ARCHITECTURE.md, "Errors"): misuse of the OpenCL API is a cl_int, a peer's or the
// system's failure is an Error in a Result, and our own bug is FARCL_ASSERT, which also holds in release builds.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace farcl {

enum class ErrorCode : std::uint16_t {
  kInvalid,      ///< bad input: from the wire, a file, an environment variable or a command line
  kLimit,        ///< a named maximum was exceeded
  kClosed,       ///< the peer closed the connection in an orderly way
  kDisconnected, ///< the connection broke, was refused or could not be made
  kTimeout,      ///< a wait reached its end
  kRefused,      ///< the peer answered "no", with a sentence
  kSystem,       ///< a system call failed; `system_errno` says why
  kUnsupported,  ///< understood, but not offered by this build or device
  kOutOfMemory,  ///< memory or another resource could not be had
  kInternal,     ///< a part of FarCL broke its promise (for example a compiler child that crashed)
};

/// A failure: its class, the system's errno (0 if none) and one sentence for a person.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  int system_errno = 0;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// Makes the failed alternative of any Result.
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, 0, std::move(message)});
}
/// The same for a failed system call: appends the system's own words for `error_number`.
[[nodiscard]] tl::unexpected<Error> fail_errno(int error_number, std::string_view what);
/// Passes the failure of one Result on as the failure of another.
template <class T>
[[nodiscard]] tl::unexpected<Error> pass_on(Result<T>&& result) {
  return tl::unexpected<Error>(std::move(result).error());
}

/// What FARCL_ASSERT throws. It stops at the API guard, the daemon's frame handler or a thread's main, each of which turns it
/// into an error for the one object or session concerned: the driver is a guest and never aborts its host process.
class AssertionFailure : public std::logic_error {
public:
  using std::logic_error::logic_error;
};

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

} // namespace farcl

/// Our own invariants only, never wire data or API arguments. Holds in every build.
#define FARCL_ASSERT(expression) (static_cast<bool>(expression) ? void(0) : ::farcl::assertion_failed(#expression, __FILE__, __LINE__))
