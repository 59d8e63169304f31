// Guarded<T>: data that can only be reached while its mutex is held.
#pragma once

#include "farcl/base/thread_annotations.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace farcl {

template <class T>
class FARCL_CAPABILITY("mutex") Guarded {
public:
  template <class... Args>
  explicit Guarded(Args&&... args) : value_(std::forward<Args>(args)...) {}
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  /// Holds the lock for as long as it lives; reaches the data by `->` and `*`.
  class Access {
  public:
    T* operator->() const noexcept { return value_; }
    T& operator*() const noexcept { return *value_; }
    /// For std::condition_variable: gives the lock up while it waits.
    std::unique_lock<std::mutex>& lock() noexcept { return lock_; }

  private:
    friend class Guarded;
    Access(std::mutex& mutex, T& value) : lock_(mutex), value_(&value) {}
    Access(std::unique_lock<std::mutex> lock, T& value) : lock_(std::move(lock)), value_(&value) {}
    std::unique_lock<std::mutex> lock_;
    T* value_;
  };

  [[nodiscard]] Access lock() { return Access(mutex_, value_); }
  /// Nothing when somebody holds it, whoever that is.
  [[nodiscard]] std::optional<Access> try_lock() {
    std::unique_lock<std::mutex> held(mutex_, std::try_to_lock);
    return held.owns_lock() ? std::optional<Access>(Access(std::move(held), value_)) : std::nullopt;
  }

  /// Runs `function(T&)` under the lock and returns what it returns.
  template <class Function>
  auto with(Function&& function) {
    const std::lock_guard<std::mutex> held(mutex_);
    return std::forward<Function>(function)(value_);
  }

private:
  std::mutex mutex_;
  T value_;
};

} // namespace farcl
