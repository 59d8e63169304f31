// ContentHash: names bytes by what they are. BLAKE2b with 256 bits: made for plain 64-bit code (1 GB/s without special instructions),
// and small enough that the driver, which brings no library along, can have it.
#pragma once

#include "farcl/base/bytes.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace farcl {

using ContentHash = std::array<std::uint8_t, 32>;

/// Hashes a row of pieces. Each piece goes in with its length, so that no two different rows look alike.
class ContentHasher {
public:
  ContentHasher() noexcept;
  void add(ConstBytes piece) noexcept;
  void add(std::string_view piece) noexcept { add(std::as_bytes(std::span(piece))); }
  void add(std::uint64_t number) noexcept;
  /// Once, at the end.
  [[nodiscard]] ContentHash finish() noexcept;

private:
  friend ContentHash hash_of_bytes(ConstBytes bytes) noexcept;
  void feed(ConstBytes bytes) noexcept;
  void compress(bool last) noexcept;

  std::array<std::uint64_t, 8> state_;
  std::array<std::byte, 128> block_{};
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
};

/// The bytes alone, without a length: what other programs call BLAKE2b-256.
[[nodiscard]] ContentHash hash_of_bytes(ConstBytes bytes) noexcept;

/// What a program is built from, apart from the compiler and the device: the client and the compile service each make it of what they
/// have, and must come to the same. `Headers`: elements with `path` and `text`.
template <class Headers>
void add_program(ContentHasher& hasher, std::uint8_t stage, std::string_view source, const Headers& headers, std::string_view options) {
  hasher.add(std::uint64_t{stage});
  hasher.add(source);
  hasher.add(std::uint64_t{headers.size()});
  for (const auto& header : headers) {
    hasher.add(std::string_view(header.path));
    hasher.add(std::string_view(header.text));
  }
  hasher.add(options);
}

} // namespace farcl
