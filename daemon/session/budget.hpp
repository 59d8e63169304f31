// Budget: how many bytes of one kind a session may hold.
#pragma once

#include <cstdint>
#include <utility>

namespace farcl::daemon {

/// Session thread only.
class Budget {
public:
  explicit Budget(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_bytes_; }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_bytes_; }

  /// Part of the budget for as long as it lives.
  class Share {
  public:
    Share() = default;
    Share(Share&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (budget_ != nullptr) {
        budget_->used_bytes_ -= bytes_;
      }
    }
    [[nodiscard]] explicit operator bool() const noexcept { return budget_ != nullptr; }

  private:
    friend class Budget;
    Share(Budget* budget, std::uint64_t bytes) noexcept : budget_(budget), bytes_(bytes) {}
    Budget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  /// An empty share if the bytes do not fit.
  [[nodiscard]] Share take(std::uint64_t bytes) noexcept {
    if (bytes > limit_bytes_ - used_bytes_) {
      return {};
    }
    used_bytes_ += bytes;
    return {this, bytes};
  }

private:
  std::uint64_t limit_bytes_;
  std::uint64_t used_bytes_ = 0;
};

} // namespace farcl::daemon
