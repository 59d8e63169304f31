// SharedRegion: memory behind a sealed memfd, shared with one other process.
//
// It neither shrinks nor grows (F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL), so that no peer can turn an access into a SIGBUS. What the
// other process writes there may change at any moment: copy, then validate.
#pragma once

#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace farcl {

class SharedRegion {
public:
  SharedRegion() = default;
  SharedRegion(SharedRegion&& other) noexcept
      : fd_(std::move(other.fd_)), data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)),
        owner_(other.owner_) {}
  SharedRegion& operator=(SharedRegion&& other) noexcept;
  ~SharedRegion();

  /// Zeros. No memory is taken before it is touched.
  [[nodiscard]] static Result<SharedRegion> create(const char* name, std::uint64_t size_bytes);
  /// Checks the seals and that the size is between the two bounds before it maps.
  [[nodiscard]] static Result<SharedRegion> open(UniqueFd from, std::uint64_t least_bytes, std::uint64_t most_bytes);

  [[nodiscard]] explicit operator bool() const noexcept { return data_ != nullptr; }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  /// Children of this process get neither the mapping nor the descriptor, which is closed.
  void keep_from_children() noexcept;

private:
  UniqueFd fd_;
  std::byte* data_ = nullptr;
  std::uint64_t size_bytes_ = 0;
  int owner_ = 0; ///< the process that has mapped it: a forked child has nothing to unmap
};

} // namespace farcl
