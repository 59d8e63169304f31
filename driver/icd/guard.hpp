// The API guard: every entry point's body runs in one. Exceptions stop here, errcode_ret is set here, calls are traced and the
// round trips of each call are counted here.
//
// Threads: any; a call's state lives on its own stack and in one thread-local counter.
#pragma once

#include "driver/icd/entry_points.hpp"

#include <cstdint>
#include <tl/expected.hpp>
#include <utility>

namespace farcl::driver {

/// A value, or the OpenCL error code that the program gets.
template <class T>
using ApiResult = tl::expected<T, cl_int>;
[[nodiscard]] inline tl::unexpected<cl_int> api_error(cl_int code) { return tl::unexpected<cl_int>(code); }

/// Whoever waits on behalf of the calling thread for something that only the server can say calls this once per wait.
void count_round_trip() noexcept;

/// Tests see each call as it ends. Null (the default) costs one load per call.
using CallObserver = void (*)(Entry entry, cl_int code, std::uint32_t round_trips);
void observe_calls(CallObserver observer) noexcept;

namespace detail {
/// Marks the call's begin; end() traces, tells the observer and returns the code.
class CallScope {
public:
  explicit CallScope(Entry entry) noexcept;
  cl_int end(cl_int code) noexcept;

private:
  Entry entry_;
  std::int64_t begin_ns_ = 0; ///< 0: not traced
};
/// For a catch block: logs what is in flight and turns it into a code.
[[nodiscard]] cl_int code_of_current_exception(Entry entry) noexcept;

template <class Body>
cl_int run(Entry entry, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return code_of_current_exception(entry);
  }
}
} // namespace detail

/// For entry points that return a code: `body` returns cl_int.
template <class Body>
cl_int guard(Entry entry, Body&& body) noexcept {
  detail::CallScope scope(entry);
  return scope.end(detail::run(entry, std::forward<Body>(body)));
}

/// For entry points that return a handle or pointer and have an errcode_ret: `body` returns ApiResult<Handle>.
template <class Body>
auto guard_create(Entry entry, cl_int* errcode_ret, Body&& body) noexcept {
  using Handle = typename decltype(body())::value_type;
  detail::CallScope scope(entry);
  Handle handle{};
  const cl_int code = scope.end(detail::run(entry, [&]() -> cl_int {
    auto result = std::forward<Body>(body)();
    if (!result) {
      return result.error();
    }
    handle = *result;
    return CL_SUCCESS;
  }));
  if (errcode_ret != nullptr) {
    *errcode_ret = code;
  }
  return handle;
}

} // namespace farcl::driver
