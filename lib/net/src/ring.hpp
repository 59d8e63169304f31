// Ring<T>: a queue in one array that grows when it must and never allocates in steady state. Elements have absolute indices
// that stay the same while others come and go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace farcl::net {

template <class T>
class Ring {
public:
  [[nodiscard]] bool empty() const noexcept { return first_ == end_; }
  [[nodiscard]] std::uint64_t first_index() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t end_index() const noexcept { return end_; }

  [[nodiscard]] T& operator[](std::uint64_t index) noexcept { return slots_[index & (slots_.size() - 1)]; }
  [[nodiscard]] const T& operator[](std::uint64_t index) const noexcept { return slots_[index & (slots_.size() - 1)]; }
  [[nodiscard]] T& front() noexcept { return (*this)[first_]; }
  [[nodiscard]] T& back() noexcept { return (*this)[end_ - 1]; }

  /// The next `count` pushes will not allocate.
  void reserve_more(std::size_t count) {
    while (end_ - first_ + count > slots_.size()) {
      grow();
    }
  }
  void push_back(T value) {
    reserve_more(1);
    (*this)[end_++] = std::move(value);
  }
  void pop_front() {
    (*this)[first_] = T{}; // lets go of what it owned
    ++first_;
  }

private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : slots_.size() * 2);
    for (std::uint64_t i = first_; i != end_; ++i) {
      larger[i & (larger.size() - 1)] = std::move((*this)[i]);
    }
    slots_.swap(larger);
  }
  std::vector<T> slots_; ///< a power of two, or none yet
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
};

} // namespace farcl::net
