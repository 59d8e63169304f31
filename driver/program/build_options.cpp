#include "driver/program/build_options.hpp"

#include <cstddef>
#include <utility>

namespace farcl::driver {
namespace {

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void add_macro(std::string_view definition, BuildOptions& options) {
  const std::size_t equals = definition.find('=');
  if (equals == std::string_view::npos || equals + 3 > definition.size()) {
    return;
  }
  const std::string_view value = definition.substr(equals + 1);
  const bool quoted = value.front() == '"' && value.back() == '"';
  const bool angled = value.front() == '<' && value.back() == '>';
  if (quoted || angled) {
    options.header_macros.push_back({std::string(definition.substr(0, equals)), std::string(value)});
  }
}

} // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && is_space(c)) {
      if (in_word) {
        words.push_back(std::exchange(word, {}));
      }
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else if (quote == c) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      word += c;
    }
  }
  if (in_word) {
    words.push_back(std::move(word));
  }
  return words;
}

BuildOptions read_build_options(std::string_view text) {
  BuildOptions options;
  const std::vector<std::string> words = split_words(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("-I") && !word.starts_with("-D")) {
      continue;
    }
    const std::string_view value = word.size() > 2 ? word.substr(2) : i + 1 < words.size() ? std::string_view(words[++i]) : "";
    if (value.empty()) {
      continue;
    }
    if (word[1] == 'I') {
      options.include_folders.emplace_back(value);
    } else {
      add_macro(value, options);
    }
  }
  return options;
}

} // namespace farcl::driver
