// IdTable<Id, T>: a small open-addressing map from ids that the client chose to what waits for them.
//
// Ids are consecutive, so that their low bits are the hash; a table stays at most half full and needs no allocation once it has grown.
#pragma once

#include "farcl/base/strong_id.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace farcl::driver {

template <class Id, class T>
class IdTable {
public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// The id must not be 0 and not be in the table.
  T& insert(Id id, T value) {
    if ((size_ + 1) * 2 > slots_.size()) {
      grow();
    }
    Slot& slot = place(id);
    slot.id = id;
    slot.value = std::move(value);
    ++size_;
    return slot.value;
  }

  [[nodiscard]] T* find(Id id) noexcept {
    if (slots_.empty() || !id) {
      return nullptr;
    }
    Slot& slot = place(id);
    return slot.id == id ? &slot.value : nullptr;
  }

  /// Removes the entry and returns its value; a default value when there is none.
  T take(Id id) {
    if (slots_.empty() || !id) {
      return T{};
    }
    Slot* slot = &place(id);
    if (slot->id != id) {
      return T{};
    }
    T value = std::move(slot->value);
    close_gap(static_cast<std::size_t>(slot - slots_.data()));
    --size_;
    return value;
  }

  /// Empties the table and returns what was in it, in no order.
  std::vector<T> take_all() {
    std::vector<T> values;
    values.reserve(size_);
    for (Slot& slot : slots_) {
      if (slot.id) {
        values.push_back(std::move(slot.value));
      }
    }
    slots_.clear();
    size_ = 0;
    return values;
  }

  template <class Function>
  void for_each(Function&& function) {
    for (Slot& slot : slots_) {
      if (slot.id) {
        function(slot.id, slot.value);
      }
    }
  }

private:
  struct Slot {
    Id id{};
    T value{};
  };
  static constexpr std::size_t kFirstCapacity = 32;

  [[nodiscard]] std::size_t home(Id id) const noexcept { return static_cast<std::size_t>(id.value) & (slots_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t index) const noexcept { return (index + 1) & (slots_.size() - 1); }

  /// The slot that holds `id`, or the empty one where it belongs.
  Slot& place(Id id) noexcept {
    std::size_t index = home(id);
    while (slots_[index].id && slots_[index].id != id) {
      index = next(index);
    }
    return slots_[index];
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? kFirstCapacity : slots_.size() * 2);
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.id) {
        place(slot.id) = std::move(slot);
      }
    }
  }

  // Moves later entries of the run forward so that no search ends at the gap too early.
  void close_gap(std::size_t gap) {
    slots_[gap] = Slot{};
    for (std::size_t index = next(gap); slots_[index].id; index = next(index)) {
      const std::size_t wanted = home(slots_[index].id);
      const bool may_move = gap <= index ? (wanted <= gap || wanted > index) : (wanted <= gap && wanted > index);
      if (may_move) {
        slots_[gap] = std::move(slots_[index]);
        slots_[index] = Slot{};
        gap = index;
      }
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

} // namespace farcl::driver
