// The hash against what other programs make of the same bytes (Python's hashlib.blake2b with digest_size=32).
#include "farcl/base/content_hash.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace farcl {
namespace {

std::string hex(const ContentHash& hash) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : hash) {
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

ConstBytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(ContentHash, IsBlake2b) {
  EXPECT_EQ(hex(hash_of_bytes({})), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(hex(hash_of_bytes(bytes_of("abc"))), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST(ContentHash, IsRightForEveryLengthAroundItsBlocks) {
  ByteVector all;
  for (unsigned n = 0; n < 400; ++n) {
    ByteVector bytes(n);
    for (unsigned i = 0; i < n; ++i) {
      bytes[i] = static_cast<std::byte>(i * 7 + n);
    }
    const ContentHash hash = hash_of_bytes(bytes);
    const auto view = std::as_bytes(std::span(hash));
    all.insert(all.end(), view.begin(), view.end());
  }
  EXPECT_EQ(hex(hash_of_bytes(all)), "572bd539561f06dca618135ff160af2837166b8e45fa64e327a46d3c0d76c3ad");
}

struct Header {
  std::string path;
  std::string text;
};
struct Part {
  std::uint8_t stage = 0;
  std::string source = "source";
  std::vector<Header> headers = {{"a", "b"}};
  std::string options = "options";
};

ContentHash hash_of(const Part& part) {
  ContentHasher hasher;
  add_program(hasher, part.stage, part.source, part.headers, part.options);
  return hasher.finish();
}

TEST(ContentHash, EveryPartOfAProgramCounts) {
  const std::vector<Part> different = {{},
                                       {.stage = 1},
                                       {.source = "sourc"},
                                       {.headers = {}},
                                       {.headers = {{"ab", ""}}},
                                       {.headers = {{"", "ab"}}},
                                       {.headers = {{"a", "b"}, {"a", "b"}}},
                                       {.options = "option"},
                                       {.source = "sourceo", .options = "ptions"},
                                       {.source = "", .options = "sourceoptions"}};
  for (std::size_t i = 0; i < different.size(); ++i) {
    for (std::size_t j = 0; j < different.size(); ++j) {
      EXPECT_EQ(hash_of(different[i]) == hash_of(different[j]), i == j) << i << ", " << j;
    }
  }
}

} // namespace
} // namespace farcl
