// Entry points that are not there: a function of the right signature that returns its error and does nothing else.
#pragma once

#include "driver/icd/opencl.hpp"

#include <tuple>
#include <type_traits>

namespace farcl::driver {

template <class Pointer, cl_int Code>
struct Stub;

template <class R, class... Args, cl_int Code>
struct Stub<R(CL_API_CALL*)(Args...), Code> {
  static R CL_API_CALL call(Args... args) {
    if constexpr (std::is_same_v<R, cl_int>) {
      return Code;
    } else if constexpr (std::is_pointer_v<R>) {
      // Functions that make something have the code's address last, clSVMAlloc has none.
      auto last = std::get<sizeof...(Args) - 1>(std::tuple<Args...>(args...));
      if constexpr (std::is_same_v<decltype(last), cl_int*>) {
        if (last != nullptr) {
          *last = Code;
        }
      }
      return nullptr;
    } else {
      static_assert(std::is_void_v<R>);
    }
  }
};

/// Members whose type the headers hide on this system (Direct3D) are plain pointers. No loader calls them.
template <cl_int Code>
struct Stub<void*, Code> {
  static cl_int CL_API_CALL call() { return Code; }
};

} // namespace farcl::driver
