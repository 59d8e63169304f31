// Pool<T>: memory for objects of one type, reused for ever and never given back (see handle.hpp).
#pragma once

#include "farcl/base/guarded.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace farcl::driver {

template <class T>
class Pool {
public:
  /// Never destroyed: the program may use OpenCL while it exits.
  static Pool& instance() {
    static Pool* const pool = new Pool;
    return *pool;
  }

  /// Room for one T. Throws std::bad_alloc.
  [[nodiscard]] void* take() {
    auto state = state_.lock();
    if (state->free.empty()) {
      grow(*state);
    }
    void* slot = state->free.back();
    state->free.pop_back();
    return slot;
  }

  void give(void* slot) noexcept { state_.lock()->free.push_back(slot); } // has room: grow() reserved it

private:
  static constexpr std::size_t kSlotsPerChunk = sizeof(T) < 4096 ? 64 : 4;
  struct alignas(alignof(T) > 64 ? alignof(T) : 64) Slot {
    std::byte bytes[sizeof(T)];
  };
  struct State {
    std::vector<void*> free;
    std::vector<std::unique_ptr<Slot[]>> chunks;
  };

  static void grow(State& state) {
    auto chunk = std::make_unique<Slot[]>(kSlotsPerChunk); // zeros: a slot that was never used has no magic
    state.free.reserve((state.chunks.size() + 1) * kSlotsPerChunk);
    state.chunks.push_back(std::move(chunk));
    for (std::size_t i = kSlotsPerChunk; i > 0; --i) {
      state.free.push_back(state.chunks.back()[i - 1].bytes);
    }
  }

  Guarded<State> state_;
};

} // namespace farcl::driver
