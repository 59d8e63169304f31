// Where the answer of a clGet*Info query goes, and the tables that queries are answered from.
#pragma once

#include "driver/icd/opencl.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace farcl::driver {

/// The last three parameters of every query. Each answer goes through one of its functions, which hold the rules once: the
/// needed size is always said, memory that is too small is CL_INVALID_VALUE, no memory is fine.
class InfoSink {
public:
  InfoSink(std::size_t size, void* value, std::size_t* size_ret) : size_(size), value_(value), size_ret_(size_ret) {}

  [[nodiscard]] cl_int bytes(const void* data, std::size_t count) const {
    if (value_ != nullptr && size_ < count) {
      return CL_INVALID_VALUE;
    }
    if (value_ != nullptr && count != 0) {
      std::memcpy(value_, data, count);
    }
    if (size_ret_ != nullptr) {
      *size_ret_ = count;
    }
    return CL_SUCCESS;
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] cl_int value(const T& data) const {
    return bytes(&data, sizeof data);
  }
  template <class Range>
  [[nodiscard]] cl_int array(const Range& range) const {
    return bytes(std::data(range), std::size(range) * sizeof(*std::data(range)));
  }
  /// With the final 0 that OpenCL counts.
  [[nodiscard]] cl_int text(std::string_view text) const {
    const std::size_t count = text.size() + 1;
    if (value_ != nullptr && size_ < count) {
      return CL_INVALID_VALUE;
    }
    if (value_ != nullptr) {
      text.copy(static_cast<char*>(value_), text.size());
      static_cast<char*>(value_)[text.size()] = '\0';
    }
    if (size_ret_ != nullptr) {
      *size_ret_ = count;
    }
    return CL_SUCCESS;
  }

  /// For answers that the program's memory is also an input of (CL_PROGRAM_BINARIES).
  [[nodiscard]] void* memory() const noexcept { return value_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return size_; }
  /// Says only the size.
  [[nodiscard]] cl_int size_only(std::size_t count) const {
    if (size_ret_ != nullptr) {
      *size_ret_ = count;
    }
    return CL_SUCCESS;
  }

private:
  std::size_t size_;
  void* value_;
  std::size_t* size_ret_;
};

template <class T>
struct InfoRow {
  cl_uint name;
  cl_int (*answer)(T& object, const InfoSink& sink);
};

/// CL_INVALID_VALUE when no row has that name.
template <class T, std::size_t N>
[[nodiscard]] cl_int answer(const InfoRow<T> (&table)[N], T& object, cl_uint name, const InfoSink& sink) {
  const auto* row = std::find_if(std::begin(table), std::end(table), [&](const InfoRow<T>& one) { return one.name == name; });
  return row == std::end(table) ? CL_INVALID_VALUE : row->answer(object, sink);
}

} // namespace farcl::driver
