// Finds the lengths inside an encoded message, each with its maximum, by walking the list of fields as the encoder does.
#pragma once

#include "farcl/base/archive.hpp"

#include <string>
#include <vector>

namespace farcl::testing {

struct LengthField {
  std::string path; ///< "inputs[0].text"
  std::uint64_t max_elements = 0;
  std::size_t at = 0;  ///< of the 8 bytes of the length
  std::size_t end = 0; ///< behind the last element
  ByteVector element;  ///< the encoding of one element
};

class LengthFinder {
public:
  template <class Message>
  static std::vector<LengthField> find(const Message& message) {
    LengthFinder finder;
    finder.walk(message, "", kDefaultMaxElements);
    return std::move(finder.found_);
  }

private:
  template <class T>
  void walk(const T& value, const std::string& path, std::uint64_t max_elements) {
    if constexpr (std::same_as<T, std::string> || std::same_as<T, ConstBytes>) {
      add(path, max_elements, encode(value).size(), ByteVector(1, std::byte{'a'}));
    } else if constexpr (farcl::detail::IsVector<T>::value) {
      using Element = typename T::value_type;
      const std::size_t entry = found_.size();
      const std::size_t size = encode(value).size();
      add(path, max_elements, size, value.empty() ? ByteVector{} : encode(value.front()));
      const std::size_t end = offset_;
      offset_ = found_[entry].at + 8;
      if constexpr (!PlainScalar<Element>) {
        for (std::size_t i = 0; i < value.size(); ++i) {
          walk(value[i], path + "[" + std::to_string(i) + "]", kDefaultMaxElements);
        }
      }
      offset_ = end;
    } else if constexpr (farcl::detail::IsOptional<T>::value) {
      ++offset_;
      if (value) {
        walk(*value, path, max_elements);
      }
    } else if constexpr (farcl::detail::IsVariant<T>::value) {
      ++offset_;
      std::visit([&](const auto& alternative) { walk(alternative, path, max_elements); }, value);
    } else if constexpr (HasFields<T>) {
      std::apply([&](const auto&... one) { (walk(value.*(one.member), path + "." + std::string(one.name), one.max_elements), ...); },
                 T::fields());
    } else { // scalars and arrays of them
      offset_ += encode(value).size();
    }
  }
  void add(const std::string& path, std::uint64_t max_elements, std::size_t size, ByteVector element) {
    found_.push_back({path, max_elements, offset_, offset_ + size, std::move(element)});
    offset_ += size;
  }

  std::size_t offset_ = 0;
  std::vector<LengthField> found_;
};

} // namespace farcl::testing
