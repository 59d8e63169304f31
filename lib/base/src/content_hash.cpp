#include "farcl/base/content_hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

// RFC 7693.
namespace farcl {

namespace {
constexpr std::array<std::uint64_t, 8> kInitial = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                                   0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

constexpr std::uint8_t kOrder[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3}};

using Words = std::array<std::uint64_t, 16>;

inline void mix(std::uint64_t& a, std::uint64_t& b, std::uint64_t& c, std::uint64_t& d, std::uint64_t x, std::uint64_t y) noexcept {
  a += b + x;
  d = std::rotr(d ^ a, 32);
  c += d;
  b = std::rotr(b ^ c, 24);
  a += b + y;
  d = std::rotr(d ^ a, 16);
  c += d;
  b = std::rotr(b ^ c, 63);
}
} // namespace

ContentHasher::ContentHasher() noexcept : state_(kInitial) {
  state_[0] ^= 0x01010000 ^ sizeof(ContentHash); // no key, one lane, this many bytes
}

void ContentHasher::compress(bool last) noexcept {
  Words message;
  std::memcpy(message.data(), block_.data(), sizeof message);
  Words v;
  std::copy(state_.begin(), state_.end(), v.begin());
  std::copy(kInitial.begin(), kInitial.end(), v.begin() + 8);
  v[12] ^= total_;
  v[14] ^= last ? ~std::uint64_t{0} : 0;
  for (const auto& order : kOrder) {
    mix(v[0], v[4], v[8], v[12], message[order[0]], message[order[1]]);
    mix(v[1], v[5], v[9], v[13], message[order[2]], message[order[3]]);
    mix(v[2], v[6], v[10], v[14], message[order[4]], message[order[5]]);
    mix(v[3], v[7], v[11], v[15], message[order[6]], message[order[7]]);
    mix(v[0], v[5], v[10], v[15], message[order[8]], message[order[9]]);
    mix(v[1], v[6], v[11], v[12], message[order[10]], message[order[11]]);
    mix(v[2], v[7], v[8], v[13], message[order[12]], message[order[13]]);
    mix(v[3], v[4], v[9], v[14], message[order[14]], message[order[15]]);
  }
  for (std::size_t i = 0; i < state_.size(); ++i) {
    state_[i] ^= v[i] ^ v[i + 8];
  }
}

void ContentHasher::feed(ConstBytes bytes) noexcept {
  while (!bytes.empty()) {
    if (filled_ == block_.size()) { // a full block waits until it is known not to be the last
      compress(false);
      filled_ = 0;
    }
    const std::size_t count = std::min(bytes.size(), block_.size() - filled_);
    std::memcpy(block_.data() + filled_, bytes.data(), count);
    filled_ += count;
    total_ += count;
    bytes = bytes.subspan(count);
  }
}

void ContentHasher::add(std::uint64_t number) noexcept { feed(std::as_bytes(std::span(&number, 1))); }

void ContentHasher::add(ConstBytes piece) noexcept {
  add(std::uint64_t{piece.size()});
  feed(piece);
}

ContentHash ContentHasher::finish() noexcept {
  std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_), block_.end(), std::byte{0});
  compress(true);
  ContentHash hash;
  std::memcpy(hash.data(), state_.data(), hash.size());
  return hash;
}

ContentHash hash_of_bytes(ConstBytes bytes) noexcept {
  ContentHasher hasher;
  hasher.feed(bytes);
  return hasher.finish();
}

} // namespace farcl
