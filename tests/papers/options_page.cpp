// Prints docs/options.md: the table of every option, from lib/base/include/farcl/base/config.def.
#include "farcl/base/config.hpp"

#include <cstdio>
#include <string>

int main() {
  std::puts("# Options\n");
  std::puts("Environment variables that a program with FarCL's driver reads. This page is made from `config.def` by");
  std::puts("`cmake --build build/release --target farcl_papers`; `farcl help options` prints the same. A value that does not parse or is");
  std::puts("out of bounds is replaced by the default, with one sentence on stderr.\n");
  std::puts("| variable | default | what it does |");
  std::puts("|---|---|---|");
  for (const farcl::OptionDescription& option : farcl::describe_options()) {
    const std::string shown = option.default_value.empty() ? "" : "`" + option.default_value + "`";
    std::printf("| `%.*s` | %s | %.*s |\n", static_cast<int>(option.name.size()), option.name.data(), shown.c_str(),
                static_cast<int>(option.doc.size()), option.doc.data());
  }
  return 0;
}
