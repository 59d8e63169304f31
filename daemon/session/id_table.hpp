// IdTable: from a client's ids to what they name. Open addressing, because the session looks up several ids per command.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace farcl::daemon {

/// Keys are StrongIds other than 0. Pointers to values hold until the next insert or erase. A client may choose ids that
/// collide; that slows down its own session only.
template <class Id, class T>
class IdTable {
public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  [[nodiscard]] T* find(Id id) noexcept {
    if (size_ == 0 || id.value == 0) {
      return nullptr;
    }
    for (std::size_t at = home(id.value);; at = next(at)) {
      if (slots_[at].key == id.value) {
        return &slots_[at].value;
      }
      if (slots_[at].key == 0) {
        return nullptr;
      }
    }
  }

  /// Null if the id is 0 or in use.
  T* insert(Id id, T value) {
    if (id.value == 0 || find(id) != nullptr) {
      return nullptr;
    }
    if ((size_ + 1) * 2 > slots_.size()) {
      grow();
    }
    return place(id.value, std::move(value));
  }

  bool erase(Id id) {
    T* found = find(id);
    if (found == nullptr) {
      return false;
    }
    [[maybe_unused]] const T removed = std::move(*found); // destroyed last: its destructor may look at this table
    std::size_t hole = home(id.value);
    while (slots_[hole].key != id.value) {
      hole = next(hole);
    }
    // Moves later entries of the same run back, so that no tombstones pile up.
    for (std::size_t at = next(hole); slots_[at].key != 0; at = next(at)) {
      const std::size_t wanted = home(slots_[at].key);
      const std::size_t mask = slots_.size() - 1;
      if (((at - wanted) & mask) >= ((at - hole) & mask)) {
        slots_[hole] = std::move(slots_[at]);
        hole = at;
      }
    }
    slots_[hole] = Slot{};
    --size_;
    return true;
  }

  template <class Function>
  void for_each(Function&& function) {
    for (Slot& slot : slots_) {
      if (slot.key != 0) {
        function(Id{slot.key}, slot.value);
      }
    }
  }

private:
  struct Slot {
    std::uint64_t key = 0;
    T value{};
  };
  static constexpr std::size_t kFirstSlots = 16; // at least two blocks of eight

  /// Eight ids in a row share a line or two of the cache: clients count upwards.
  [[nodiscard]] std::size_t home(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>((((key >> 3) * 0x9E3779B97F4A7C15ull) >> ((shift_ + 3) & 63)) << 3 | (key & 7));
  }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & (slots_.size() - 1); }

  T* place(std::uint64_t key, T value) {
    std::size_t at = home(key);
    while (slots_[at].key != 0) {
      at = next(at);
    }
    slots_[at].key = key;
    slots_[at].value = std::move(value);
    ++size_;
    return &slots_[at].value;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? kFirstSlots : slots_.size() * 2);
    old.swap(slots_);
    shift_ = 64;
    for (std::size_t n = slots_.size(); n > 1; n /= 2) {
      --shift_;
    }
    size_ = 0;
    for (Slot& slot : old) {
      if (slot.key != 0) {
        place(slot.key, std::move(slot.value));
      }
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  unsigned shift_ = 64;
};

} // namespace farcl::daemon
