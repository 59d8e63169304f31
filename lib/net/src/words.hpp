// Texts that people write as lists.
#pragma once

#include <algorithm>
#include <string_view>

namespace farcl::net {

/// Calls `function` with each word of the text in order: what stands between separators, never empty.
template <class Function>
void for_each_word(std::string_view text, std::string_view separators, Function&& function) {
  while (!text.empty()) {
    const auto begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) {
      return;
    }
    text.remove_prefix(begin);
    const auto end = std::min(text.find_first_of(separators), text.size());
    function(text.substr(0, end));
    text.remove_prefix(end);
  }
}

} // namespace farcl::net
