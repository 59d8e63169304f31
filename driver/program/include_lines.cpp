#include "driver/program/include_lines.hpp"

#include <cctype>
#include <cstddef>

namespace farcl::driver {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// What LogicalLines looks at; everything else goes into the line as it is, in one piece.
bool is_special(char c) { return c == '\\' || c == '/' || c == '\n' || c == '"' || c == '\''; }

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
}

std::string_view take_name(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_name(text[length])) {
    ++length;
  }
  const std::string_view name = text.substr(0, length);
  text.remove_prefix(length);
  return name;
}

/// Hands out the logical lines of a text: continued ones joined, comments replaced by a blank.
class LogicalLines {
public:
  explicit LogicalLines(std::string_view text) : text_(text) {}

  bool next(std::string& line) {
    line.clear();
    if (at_ >= text_.size()) {
      return false;
    }
    while (at_ < text_.size() && take(line)) {
    }
    return true;
  }

private:
  [[nodiscard]] bool starts(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  /// Adds what stands at the position to the line; false at its end.
  bool take(std::string& line) {
    if (starts("\\\n")) {
      at_ += 2;
    } else if (starts("\\\r\n")) {
      at_ += 3;
    } else if (starts("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
      line += ' ';
    } else if (starts("//") && !in_include_name(line)) {
      skip_line_comment();
    } else if (text_[at_] == '\n') {
      ++at_;
      return false;
    } else if (text_[at_] == '"' || text_[at_] == '\'') {
      take_literal(line);
    } else {
      const std::size_t begin = at_++;
      while (at_ < text_.size() && !is_special(text_[at_])) {
        ++at_;
      }
      line += text_.substr(begin, at_ - begin);
    }
    return true;
  }

  /// <sys//x.h>: no comment.
  static bool in_include_name(std::string_view line) {
    const std::size_t open = line.rfind('<');
    return open != std::string_view::npos && line.find('>', open) == std::string_view::npos && line.find('#') != std::string_view::npos &&
           line.find("include") < open;
  }
  void skip_line_comment() {
    for (;;) {
      const std::size_t end = text_.find('\n', at_);
      if (end == std::string_view::npos) {
        at_ = text_.size();
        return;
      }
      const std::string_view comment = text_.substr(at_, end - at_);
      if (!comment.ends_with('\\') && !comment.ends_with("\\\r")) {
        at_ = end;
        return;
      }
      at_ = end + 1;
    }
  }
  /// A literal hides comment marks; it ends at the line's end at the latest.
  void take_literal(std::string& line) {
    const char quote = text_[at_];
    line += text_[at_++];
    while (at_ < text_.size() && text_[at_] != '\n') {
      const char c = text_[at_++];
      line += c;
      if (c == quote) {
        return;
      }
      if (c == '\\' && at_ < text_.size() && text_[at_] != '\n') {
        line += text_[at_++];
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void read_include(std::string_view rest, IncludeLines& found) {
  skip_blanks(rest);
  if (IncludeLines::Header header = parse_header_name(rest); !header.name.empty()) {
    found.headers.push_back(std::move(header));
  } else if (const std::string_view name = take_name(rest); !name.empty()) {
    found.macros.emplace_back(name);
  }
}

void read_define(std::string_view rest, IncludeLines& found) {
  skip_blanks(rest);
  const std::string_view name = take_name(rest);
  if (name.empty() || (!rest.empty() && rest.front() == '(')) {
    return;
  }
  skip_blanks(rest);
  if (IncludeLines::Header header = parse_header_name(rest); !header.name.empty()) {
    found.definitions.push_back({std::string(name), std::move(header)});
  } else if (const std::string_view other = take_name(rest); !other.empty() && rest.find_first_not_of(" \t\r") == std::string_view::npos) {
    found.definitions.push_back({std::string(name), {std::string(other), false}}); // an alias; resolved by name like a header, harmless
  }
}

void read_has_include(std::string_view line, IncludeLines& found) {
  constexpr std::string_view kWord = "__has_include";
  for (std::size_t at = line.find(kWord); at != std::string_view::npos; at = line.find(kWord, at + kWord.size())) {
    std::string_view rest = line.substr(at + kWord.size());
    skip_blanks(rest);
    if (!rest.empty() && rest.front() == '(') {
      rest.remove_prefix(1);
      read_include(rest, found);
    }
  }
}

void read_directive(std::string_view line, IncludeLines& found) {
  skip_blanks(line);
  if (line.starts_with("%:")) { // the digraph
    line.remove_prefix(2);
  } else if (line.starts_with("#")) {
    line.remove_prefix(1);
  } else {
    return;
  }
  skip_blanks(line);
  const std::string_view word = take_name(line);
  if (word == "include" || word == "include_next" || word == "import") {
    read_include(line, found);
  } else if (word == "define") {
    read_define(line, found);
  } else if (word == "if" || word == "elif") {
    read_has_include(line, found);
  }
}

} // namespace

IncludeLines::Header parse_header_name(std::string_view text) {
  if (text.size() < 3 || (text.front() != '"' && text.front() != '<')) {
    return {};
  }
  const bool angled = text.front() == '<';
  const std::size_t end = text.find(angled ? '>' : '"', 1);
  if (end == std::string_view::npos) {
    return {};
  }
  return {std::string(text.substr(1, end - 1)), angled};
}

IncludeLines find_include_lines(std::string_view source) {
  IncludeLines found;
  LogicalLines lines(source);
  for (std::string line; lines.next(line);) {
    read_directive(line, found);
  }
  return found;
}

} // namespace farcl::driver
