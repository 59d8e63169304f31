#include "farcl/base/result.hpp"

#include <system_error>

namespace farcl {

tl::unexpected<Error> fail_errno(int error_number, std::string_view what) {
  std::string message(what);
  message += ": ";
  message += std::generic_category().message(error_number);
  return tl::unexpected<Error>(Error{ErrorCode::kSystem, error_number, std::move(message)});
}

void assertion_failed(const char* expression, const char* file, int line) {
  throw AssertionFailure(std::string("FarCL: internal error, please report it: ") + expression + " does not hold at " + file + ":" +
                         std::to_string(line));
}

} // namespace farcl
