#include "farcl/kernel_compiler/printf_format.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

namespace farcl::kernel_compiler {
namespace {

/// Wide enough for every number of a program, small enough that one call cannot fill the pipe to the client.
constexpr int kMaxWidth = 4096;

struct Conversion {
  std::string flags;     ///< of "-+ #0"
  std::string width;     ///< digits
  std::string precision; ///< with its point
  unsigned vector_size = 1;
  std::string length; ///< hh, h, hl, l or nothing
  char letter = 0;
};

class Parser {
public:
  explicit Parser(std::string_view format) : rest_(format) {}

  /// The text up to the next '%'.
  std::string_view take_text() {
    const std::size_t at = std::min(rest_.find('%'), rest_.size());
    const std::string_view text = rest_.substr(0, at);
    rest_.remove_prefix(at);
    return text;
  }

  /// At a '%'. Nothing if what follows is no conversion.
  std::optional<Conversion> take_conversion() {
    rest_.remove_prefix(1);
    Conversion conversion;
    conversion.flags = take_of("-+ #0");
    conversion.width = take_of("0123456789");
    if (!rest_.empty() && rest_.front() == '.') {
      rest_.remove_prefix(1);
      conversion.precision = take_of("0123456789").insert(0, 1, '.');
    }
    if (!rest_.empty() && rest_.front() == 'v') {
      rest_.remove_prefix(1);
      conversion.vector_size = static_cast<unsigned>(number(take_of("0123456789"), 16));
    }
    for (const std::string_view length : {"hh", "hl", "h", "l"}) {
      if (rest_.starts_with(length)) {
        conversion.length = length;
        rest_.remove_prefix(length.size());
        break;
      }
    }
    if (rest_.empty() || std::string_view("diouxXfFeEgGaAcsp%").find(rest_.front()) == std::string_view::npos) {
      return std::nullopt;
    }
    conversion.letter = rest_.front();
    rest_.remove_prefix(1);
    cap(conversion.width);
    cap_precision(conversion.precision);
    return conversion;
  }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

private:
  std::string take_of(std::string_view allowed) {
    const std::size_t count = std::min(rest_.find_first_not_of(allowed), rest_.size());
    std::string taken(rest_.substr(0, count));
    rest_.remove_prefix(count);
    return taken;
  }

  static long number(const std::string& digits, long most) {
    long value = 0;
    for (const char digit : digits) {
      value = std::min(most, value * 10 + (digit - '0'));
    }
    return value;
  }

  static void cap(std::string& digits) {
    if (!digits.empty()) {
      digits = std::to_string(number(digits, kMaxWidth));
    }
  }

  static void cap_precision(std::string& precision) {
    if (precision.size() > 1) {
      precision = std::to_string(number(precision.substr(1), kMaxWidth)).insert(0, 1, '.');
    }
  }

  std::string_view rest_;
};

class Formatter {
public:
  explicit Formatter(const FarclPrintfRecord& record) : record_(record) {}

  std::string run() {
    Parser parser(std::string_view(record_.format, ::strnlen(record_.format, kMaxPrintfBytes)));
    while (!parser.at_end() && text_.size() < kMaxPrintfBytes) {
      text_ += parser.take_text();
      if (parser.at_end()) {
        break;
      }
      if (const auto conversion = parser.take_conversion()) {
        convert(*conversion);
      }
    }
    if (text_.size() > kMaxPrintfBytes) {
      text_.resize(kMaxPrintfBytes);
    }
    return std::move(text_);
  }

private:
  void convert(const Conversion& conversion) {
    if (conversion.letter == '%') {
      text_ += '%';
      return;
    }
    if (next_ >= record_.argument_count) {
      return;
    }
    const FarclPrintfArgument& argument = record_.arguments[next_++];
    const unsigned count = std::min<unsigned>(std::max(1U, conversion.vector_size), argument.element_count);
    for (unsigned i = 0; i < count; ++i) {
      if (i != 0) {
        text_ += ',';
      }
      convert_one(conversion, argument, i);
    }
  }

  void convert_one(const Conversion& conversion, const FarclPrintfArgument& argument, unsigned i) {
    const std::uint64_t offset = argument.offset + std::uint64_t(i) * argument.element_size;
    if (argument.element_size > 8 || offset + argument.element_size > record_.data_size) {
      return;
    }
    std::array<unsigned char, 8> raw{};
    std::memcpy(raw.data(), record_.data + offset, argument.element_size);
    switch (conversion.letter) {
    case 's': return string(conversion, argument, raw);
    case 'p': return print(conversion, "", pointer_of(raw));
    case 'c': return print(conversion, "", static_cast<int>(integer_of(conversion, argument, raw)));
    case 'd':
    case 'i': return print(conversion, "ll", static_cast<long long>(integer_of(conversion, argument, raw)));
    case 'o':
    case 'u':
    case 'x':
    case 'X': return print(conversion, "ll", unsigned_of(conversion, argument, raw));
    default: return print(conversion, "", float_of(argument, raw));
    }
  }

  template <class Value>
  void print(const Conversion& conversion, const char* length, Value value) {
    const std::string format = "%" + conversion.flags + conversion.width + conversion.precision + length + conversion.letter;
    std::array<char, kMaxWidth + 512> buffer;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int size = std::snprintf(buffer.data(), buffer.size(), format.c_str(), value);
#pragma GCC diagnostic pop
    text_.append(buffer.data(), std::min<std::size_t>(size > 0 ? static_cast<std::size_t>(size) : 0, buffer.size() - 1));
  }

  void string(const Conversion& conversion, const FarclPrintfArgument& argument, const std::array<unsigned char, 8>& raw) {
    if (argument.kind != FARCL_PRINTF_POINTER) {
      return;
    }
    const char* text = static_cast<const char*>(pointer_of(raw));
    std::string copy = text != nullptr ? std::string(text, ::strnlen(text, kMaxWidth)) : "(null)";
    print(conversion, "", copy.c_str());
  }

  static const void* pointer_of(const std::array<unsigned char, 8>& raw) {
    const void* pointer = nullptr;
    std::memcpy(&pointer, raw.data(), sizeof pointer);
    return pointer;
  }

  static double float_of(const FarclPrintfArgument& argument, const std::array<unsigned char, 8>& raw) {
    double wide = 0;
    float narrow = 0;
    if (argument.kind != FARCL_PRINTF_FLOAT) {
      return static_cast<double>(sign_extended(raw, argument.element_size));
    }
    if (argument.element_size == sizeof narrow) {
      std::memcpy(&narrow, raw.data(), sizeof narrow);
      return narrow;
    }
    std::memcpy(&wide, raw.data(), sizeof wide);
    return wide;
  }

  static std::int64_t sign_extended(const std::array<unsigned char, 8>& raw, unsigned size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, raw.data(), sizeof bits);
    const unsigned shift = 64 - 8 * size;
    return static_cast<std::int64_t>(bits << shift) >> shift;
  }

  /// What the length asks for; C promotes scalars of char and short to int on the way here.
  static unsigned wanted_size(const Conversion& conversion, const FarclPrintfArgument& argument) {
    const unsigned size = conversion.length == "hh" ? 1 : conversion.length == "h" ? 2 : argument.element_size;
    return std::min<unsigned>(size, argument.element_size);
  }

  static std::int64_t integer_of(const Conversion& conversion, const FarclPrintfArgument& argument,
                                 const std::array<unsigned char, 8>& raw) {
    if (argument.kind == FARCL_PRINTF_FLOAT) {
      const double value = float_of(argument, raw);
      return value > -9.2e18 && value < 9.2e18 ? static_cast<std::int64_t>(value) : 0;
    }
    return sign_extended(raw, wanted_size(conversion, argument));
  }

  static unsigned long long unsigned_of(const Conversion& conversion, const FarclPrintfArgument& argument,
                                        const std::array<unsigned char, 8>& raw) {
    const unsigned size = argument.kind == FARCL_PRINTF_FLOAT ? 8 : wanted_size(conversion, argument);
    const auto bits = static_cast<std::uint64_t>(integer_of(conversion, argument, raw));
    return size >= 8 ? bits : bits & ((1ULL << (8 * size)) - 1);
  }

  const FarclPrintfRecord& record_;
  std::uint32_t next_ = 0;
  std::string text_;
};

} // namespace

std::string format_printf(const FarclPrintfRecord& record) { return Formatter(record).run(); }

} // namespace farcl::kernel_compiler
