// What every OpenCL handle of FarCL is: the ICD dispatch pointer, a magic value, two counts.
//
// The API count is the program's (clRetain*, clRelease*, CL_*_REFERENCE_COUNT). The internal count says who still needs the object: the
// program as long as its count is not 0, child objects, commands in flight. An object lives until the internal count is 0; it is a valid
// handle for as long, because queries (CL_KERNEL_PROGRAM, CL_QUEUE_CONTEXT, ...) hand out objects that the program released long ago.
//
// Memory of handles is never given back to the heap but kept for later objects of the same type (Pool): a program that uses a released
// handle gets the specification's error instead of a crash, also when the ICD loader reads the dispatch pointer first.
#pragma once

#include "driver/icd/opencl.hpp"
#include "driver/objects/pool.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <utility>

namespace farcl::driver {

/// The table that the ICD loader calls through; defined in driver/icd/dispatch.cpp from api_list.def.
extern const cl_icd_dispatch kDispatchTable;

/// See driver/session/runtime.hpp. In a forked child nothing is made or destroyed: that could need a lock that a thread of the parent held.
[[nodiscard]] bool in_forked_child() noexcept;

inline constexpr std::uint64_t kReleasedMagic = 0xdeadface'0badcafe;

struct HandleHeader {
  const cl_icd_dispatch* dispatch;
  std::atomic<std::uint64_t> magic;
};

} // namespace farcl::driver

// The structs that CL/cl.h declares.
struct _cl_platform_id : farcl::driver::HandleHeader {};
struct _cl_device_id : farcl::driver::HandleHeader {};
struct _cl_context : farcl::driver::HandleHeader {};
struct _cl_command_queue : farcl::driver::HandleHeader {};
struct _cl_mem : farcl::driver::HandleHeader {};
struct _cl_program : farcl::driver::HandleHeader {};
struct _cl_kernel : farcl::driver::HandleHeader {};
struct _cl_event : farcl::driver::HandleHeader {};
struct _cl_sampler : farcl::driver::HandleHeader {};

namespace farcl::driver {

/// A counted internal reference.
template <class T>
class Ref {
public:
  Ref() = default;
  explicit Ref(T* object) noexcept : object_(object) {
    if (object_ != nullptr) {
      object_->retain_internal();
    }
  }
  Ref(const Ref& other) noexcept : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) {
      object_->release_internal();
    }
  }
  [[nodiscard]] T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

  /// Takes over a reference that has been counted already.
  [[nodiscard]] static Ref adopt(T* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

private:
  T* object_ = nullptr;
};

/// Base of all objects; `Struct` is what the handle points to. Objects are made by create() only, and destroy themselves.
template <class T, class Struct, std::uint64_t kMagic>
class Object : public Struct {
public:
  using Handle = Struct*;

  /// The object behind a handle; null when the handle is null, not aligned, of another type, or released.
  [[nodiscard]] static T* from(Handle handle) noexcept {
    if (handle == nullptr || reinterpret_cast<std::uintptr_t>(handle) % alignof(HandleHeader) != 0 ||
        handle->magic.load(std::memory_order_acquire) != kMagic) {
      return nullptr;
    }
    return static_cast<T*>(handle);
  }

  /// A new object with an API count of 1, which belongs to the caller.
  template <class... Args>
  [[nodiscard]] static T* create(Args&&... args) {
    if (in_forked_child()) {
      throw std::runtime_error("OpenCL objects cannot be made after fork()");
    }
    void* memory = Pool<T>::instance().take();
    T* object = nullptr;
    try {
      object = new (memory) T(std::forward<Args>(args)...);
    } catch (...) {
      Pool<T>::instance().give(memory);
      throw;
    }
    object->dispatch = &kDispatchTable;
    object->magic.store(kMagic, std::memory_order_release);
    return object;
  }

  [[nodiscard]] Handle handle() noexcept { return this; }

  void retain_api() noexcept {
    api_count_.fetch_add(1, std::memory_order_relaxed);
    retain_internal();
  }
  /// False when the program released more often than it retained: the handle is invalid for it.
  [[nodiscard]] bool release_api() noexcept {
    std::uint32_t count = api_count_.load(std::memory_order_relaxed);
    do {
      if (count == 0) {
        return false;
      }
    } while (!api_count_.compare_exchange_weak(count, count - 1, std::memory_order_relaxed));
    release_internal();
    return true;
  }
  [[nodiscard]] cl_uint reference_count() const noexcept { return api_count_.load(std::memory_order_relaxed); }

  void retain_internal() noexcept { internal_count_.fetch_add(1, std::memory_order_relaxed); }
  /// False when the object is being destroyed: for tables that hold plain pointers.
  [[nodiscard]] bool try_retain_internal() noexcept {
    std::uint32_t count = internal_count_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (internal_count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  void release_internal() noexcept {
    if (internal_count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy();
    }
  }

protected:
  Object() = default;
  ~Object() = default;

private:
  void destroy() noexcept {
    if (in_forked_child()) {
      return;
    }
    T* object = static_cast<T*>(this);
    object->magic.store(kReleasedMagic, std::memory_order_release);
    object->~T();
    // The destructor may have made the compiler forget the header; it must stay readable.
    auto* header = new (static_cast<void*>(static_cast<Struct*>(object))) HandleHeader;
    header->dispatch = &kDispatchTable;
    header->magic.store(kReleasedMagic, std::memory_order_release);
    Pool<T>::instance().give(object);
  }

  std::atomic<std::uint32_t> api_count_{1};
  std::atomic<std::uint32_t> internal_count_{1};
};

} // namespace farcl::driver
