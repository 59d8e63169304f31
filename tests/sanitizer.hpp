// How the programs under test were built: CTest says it to every test (cmake/FarclTest.cmake).
#pragma once

#include <cstdlib>
#include <string_view>

namespace farcl::test {

/// The value of the CMake option FARCL_SANITIZE: "" for a build without sanitizers, "thread", "address,undefined", ...
inline std::string_view sanitizers() {
  const char* value = std::getenv("FARCL_SANITIZE");
  return value == nullptr ? std::string_view() : value;
}

inline bool is_sanitized() { return !sanitizers().empty(); }

} // namespace farcl::test
