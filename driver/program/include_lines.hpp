// Finds the headers that a source text names, without a preprocessor: every #include counts, also in branches that the compiler
// would leave out, because what is sent too much does no harm and what is missing breaks the build.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace farcl::driver {

struct IncludeLines {
  struct Header {
    std::string name;
    bool angled = false; ///< <name>: not looked for beside the including file
    friend bool operator==(const Header&, const Header&) = default;
  };
  std::vector<Header> headers;     ///< #include "x", #include <x>, #include_next, #import, __has_include("x")
  std::vector<std::string> macros; ///< #include NAME
  struct Macro {
    std::string name;
    Header header;
  };
  std::vector<Macro> definitions; ///< #define NAME "x" or #define NAME <x>
};

[[nodiscard]] IncludeLines find_include_lines(std::string_view source);
/// "x" or <x>, as a macro's value has it; an empty name if it is neither.
[[nodiscard]] IncludeLines::Header parse_header_name(std::string_view text);

} // namespace farcl::driver
