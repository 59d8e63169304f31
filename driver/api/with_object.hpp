// What entry points that begin with one object's handle share: the guard, the check of the handle, and the calls that are the same
// for every kind of object (OpenCL 3.0, sections 4.4 to 5.13: retain, release, destructor callbacks).
#pragma once

#include "driver/icd/guard.hpp"

#include <utility>

namespace farcl::driver {

/// Inside the API guard: `invalid` when the handle is none of Object's, else what `body(Object&)` returns.
template <class Object, class Body>
cl_int with_object(Entry entry, typename Object::Handle handle, cl_int invalid, Body&& body) noexcept {
  return guard(entry, [&]() -> cl_int {
    Object* object = Object::from(handle);
    return object != nullptr ? std::forward<Body>(body)(*object) : invalid;
  });
}

template <class Object>
cl_int retain_object(Entry entry, typename Object::Handle handle, cl_int invalid) noexcept {
  return with_object<Object>(entry, handle, invalid, [](Object& object) {
    object.retain_api();
    return CL_SUCCESS;
  });
}

template <class Object>
cl_int release_object(Entry entry, typename Object::Handle handle, cl_int invalid) noexcept {
  return with_object<Object>(entry, handle, invalid, [&](Object& object) { return object.release_api() ? CL_SUCCESS : invalid; });
}

template <class Object>
cl_int set_destructor_callback(Entry entry, typename Object::Handle handle, cl_int invalid, typename Object::DestructorFunction function,
                               void* user_data) noexcept {
  return with_object<Object>(entry, handle, invalid, [&](Object& object) -> cl_int {
    if (function == nullptr) {
      return CL_INVALID_VALUE;
    }
    object.add_destructor(function, user_data);
    return CL_SUCCESS;
  });
}

} // namespace farcl::driver
