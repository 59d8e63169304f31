// Collects the client's headers that a source may include, transitively, so that they can travel with the build request.
//
// What may be read: regular files whose canonical path lies in the working directory or in an -I folder, at most as many and as
// large as protocol/limits.hpp allows. Anything else is treated as if it were not there, so that the compiler says what it misses.
#pragma once

#include "farcl/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace farcl::driver {

struct SourceHeader {
  std::string path; ///< as the compiler will look it up: relative to the working directory, or absolute
  std::string text;
  friend bool operator==(const SourceHeader&, const SourceHeader&) = default;
};

/// `given`: the embedded headers of clCompileProgram; they are scanned too, and a file never replaces one. The result does not hold
/// them. kLimit when source and headers together are more than one request can carry.
[[nodiscard]] Result<std::vector<SourceHeader>> scan_headers(std::string_view source, std::string_view options,
                                                             const std::vector<SourceHeader>& given = {});

} // namespace farcl::driver
