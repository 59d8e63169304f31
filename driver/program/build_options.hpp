// The little that the client has to understand of a build's options: where headers may be. The compiler parses them in full.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace farcl::driver {

struct BuildOptions {
  std::vector<std::string> include_folders; ///< of -I, in order, as written
  /// -D NAME="file.h" or NAME=<file.h>: a source may say #include NAME.
  struct HeaderMacro {
    std::string name;
    std::string value; ///< with its quotes or angle brackets
  };
  std::vector<HeaderMacro> header_macros;
};

/// Words as a shell would split them: quotes group, a backslash takes the next character as it is.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);
[[nodiscard]] BuildOptions read_build_options(std::string_view options);

} // namespace farcl::driver
