#include "options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace farcl::kernel_compiler {
namespace {

/// Passed to clang as they are.
constexpr std::array<std::string_view, 9> kFrontEndFlags = {
    "-w",
    "-Werror",
    "-cl-single-precision-constant",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-strict-aliasing",
    "-cl-mad-enable",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
};
constexpr std::string_view kFastRelaxedMath = "-cl-fast-relaxed-math";
/// Valid, but nothing has to be done for them: denormals are always kept, argument info is always made, debug
/// information is not.
constexpr std::array<std::string_view, 4> kIgnoredFlags = {"-cl-denorms-are-zero", "-cl-kernel-arg-info", "-g", "-cl-no-subgroup-ifp"};
constexpr std::array<std::string_view, 5> kStandards = {"CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"};
/// clLinkProgram takes these (OpenCL 3.0, 5.8.7.2), beside -create-library and -enable-link-options.
constexpr std::array<std::string_view, 5> kLinkMathFlags = {"-cl-denorms-are-zero", "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations",
                                                            "-cl-finite-math-only", "-cl-fast-relaxed-math"};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

class Parser {
public:
  Parser(std::vector<std::string> words, Options& options) : words_(std::move(words)), options_(options) {}

  void parse_compile() {
    for (; at_ < words_.size() && options_.fault.empty(); ++at_) {
      parse_one(words_[at_]);
    }
    finish_standard();
  }

  void parse_link() {
    for (const std::string& word : words_) {
      if (word == "-create-library") {
        options_.create_library = true;
      } else if (word != "-enable-link-options" && !contains(kLinkMathFlags, word)) {
        options_.fault = "unknown link option '" + word + "'";
        return;
      }
    }
  }

private:
  void parse_one(const std::string& word) {
    const std::string_view view = word;
    if (view.starts_with("-D")) {
      if (const std::string macro = value_of(2); !macro.empty()) {
        options_.clang_arguments.insert(options_.clang_arguments.end(), {"-D", macro});
      }
    } else if (view.starts_with("-I")) {
      if (const std::string folder = value_of(2); !folder.empty()) {
        options_.include_folders.push_back(folder);
      }
    } else if (view.starts_with("-cl-std=")) {
      options_.language_standard = word.substr(8);
    } else if (view == "-cl-opt-disable") {
      options_.optimise = false;
    } else if (view == "-cl-uniform-work-group-size") {
      options_.uniform_work_groups = true;
    } else if (view == kFastRelaxedMath) {
      options_.clang_arguments.push_back(word);
    } else if (contains(kFrontEndFlags, view)) {
      options_.clang_arguments.push_back(word);
    } else if (!contains(kIgnoredFlags, view)) {
      options_.fault = "unknown build option '" + word + "'";
    }
  }

  /// "-Dname" and "-D name" both exist.
  std::string value_of(std::size_t prefix) {
    if (words_[at_].size() > prefix) {
      return words_[at_].substr(prefix);
    }
    if (at_ + 1 >= words_.size()) {
      options_.fault = "'" + words_[at_] + "' needs a value";
      return {};
    }
    return words_[++at_];
  }

  void finish_standard() {
    if (options_.fault.empty() && !contains(kStandards, options_.language_standard)) {
      options_.fault = "unknown OpenCL C version '" + options_.language_standard + "'";
    }
    if (options_.language_standard < "CL2.0") {
      options_.uniform_work_groups = true;
    }
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
  Options& options_;
};

} // namespace

std::vector<std::string> split_options(const std::string& text, std::string& fault) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      quote == c ? void(quote = 0) : void(word += c);
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0') {
      if (in_word) {
        words.push_back(std::move(word));
      }
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) {
    fault = "a quote in the options is not closed";
  }
  if (in_word) {
    words.push_back(std::move(word));
  }
  return words;
}

Options parse_options(const std::string& text, Stage stage) {
  Options options;
  std::vector<std::string> words = split_options(text, options.fault);
  if (!options.fault.empty()) {
    return options;
  }
  Parser parser(std::move(words), options);
  stage == Stage::kLink ? parser.parse_link() : parser.parse_compile();
  return options;
}

} // namespace farcl::kernel_compiler
