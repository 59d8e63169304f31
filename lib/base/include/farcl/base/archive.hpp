// The one encoding of values as bytes: the wire protocol, the compile service and the disk cache use it.
//
// Little-endian, no padding, no size_t, no alignment. Supported: unsigned and signed integers of fixed width, bool, float,
// double, enums with a fixed underlying type, StrongId, std::string, std::vector, std::array, std::optional, std::variant,
// ConstBytes (decoded as a view into the input: valid only as long as the input is), and aggregates that list their
// fields once:
//
//   struct Point {
//     std::uint32_t x = 0, y = 0;
//     std::string name;
//     static constexpr auto fields() { return std::tuple(field("x", &Point::x), field("y", &Point::y),
//                                                        field("name", &Point::name, kMaxNameBytes)); }
//   };
//
// Bytes are hostile until decoded: every string, vector and ConstBytes has a maximum (its field's, or kDefaultMaxElements),
// checked before memory is reserved, and a count is also checked against the bytes that are left, so a lie about a length
// costs nothing. Enums need a function `constexpr bool is_known(Enum)` found by ADL; unknown values fail.
#pragma once

#include "farcl/base/bytes.hpp"
#include "farcl/base/strong_id.hpp"

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace farcl {

static_assert(std::endian::native == std::endian::little, "FarCL's encoding is little-endian and copies integers as they are");

inline constexpr std::uint64_t kDefaultMaxElements = 64 * 1024;

template <class Class, class Member>
struct Field {
  std::string_view name;
  Member Class::* member;
  std::uint64_t max_elements; ///< of a string (bytes), vector or ConstBytes; ignored for others
};

template <class Class, class Member>
constexpr Field<Class, Member> field(std::string_view name, Member Class::* member, std::uint64_t max_elements = kDefaultMaxElements) {
  return {name, member, max_elements};
}

template <class T>
concept HasFields = requires { T::fields(); };

namespace detail {
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsArray : std::false_type {};
template <class T, std::size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVariant : std::false_type {};
template <class... T>
struct IsVariant<std::variant<T...>> : std::true_type {};
template <class T>
struct IsStrongId : std::false_type {};
template <class T>
struct IsStrongId<StrongId<T>> : std::true_type {};
template <class T>
inline constexpr bool kUnsupported = false;
} // namespace detail

/// Scalars whose memory is their encoding; vectors of them are copied in one piece.
template <class T>
concept PlainScalar = (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, float> || std::same_as<T, double>;
template <class T>
inline constexpr bool kIsCopied = PlainScalar<T> || std::same_as<T, std::byte>;

/// Bytes that have been encoded already.
struct Encoded {
  ConstBytes bytes;
};

/// Appends encoded values to a byte vector: counts their bytes, makes room once, stores them.
class Writer {
public:
  explicit Writer(ByteVector& out) : out_(out) {}

  /// One value or several, in order. An Encoded is appended as it is.
  template <class... T>
  void write(const T&... values) {
    const std::size_t begin = out_.size();
    out_.resize(begin + (size_of(values) + ... + 0));
    std::byte* at = out_.data() + begin;
    ((at = store(at, values)), ...);
  }

private:
  template <class T>
  static std::size_t size_of(const T& value) {
    if constexpr (PlainScalar<T> || std::is_enum_v<T>) {
      return sizeof(T);
    } else if constexpr (std::same_as<T, bool>) {
      return 1;
    } else if constexpr (detail::IsStrongId<T>::value) {
      return sizeof value.value;
    } else if constexpr (std::same_as<T, Encoded>) {
      return value.bytes.size();
    } else if constexpr (std::same_as<T, std::string> || std::same_as<T, ConstBytes>) {
      return sizeof(std::uint64_t) + value.size();
    } else if constexpr (detail::IsVector<T>::value) {
      return sizeof(std::uint64_t) + size_of_elements(value);
    } else if constexpr (detail::IsArray<T>::value) {
      return size_of_elements(value);
    } else if constexpr (detail::IsOptional<T>::value) {
      return 1 + (value ? size_of(*value) : 0);
    } else if constexpr (detail::IsVariant<T>::value) {
      static_assert(std::variant_size_v<T> < 256);
      return 1 + std::visit([](const auto& alternative) { return size_of(alternative); }, value);
    } else if constexpr (HasFields<T>) {
      return std::apply([&](const auto&... one) { return (size_of(value.*(one.member)) + ... + 0); }, T::fields());
    } else {
      static_assert(detail::kUnsupported<T>, "no encoding for this type");
    }
  }
  template <class Range>
  static std::size_t size_of_elements(const Range& range) {
    using Element = typename Range::value_type;
    if constexpr (kIsCopied<Element>) {
      return range.size() * sizeof(Element);
    } else {
      std::size_t size = 0;
      for (const auto& element : range) {
        size += size_of(element);
      }
      return size;
    }
  }

  /// Stores the value's size_of() bytes and returns where the next one goes.
  template <class T>
  static std::byte* store(std::byte* at, const T& value) {
    if constexpr (PlainScalar<T> || std::is_enum_v<T>) {
      return copy(at, &value, sizeof value);
    } else if constexpr (std::same_as<T, bool>) {
      *at = static_cast<std::byte>(value);
      return at + 1;
    } else if constexpr (detail::IsStrongId<T>::value) {
      return store(at, value.value);
    } else if constexpr (std::same_as<T, Encoded>) {
      return copy(at, value.bytes.data(), value.bytes.size());
    } else if constexpr (std::same_as<T, std::string> || std::same_as<T, ConstBytes>) {
      return copy(store(at, static_cast<std::uint64_t>(value.size())), value.data(), value.size());
    } else if constexpr (detail::IsVector<T>::value) {
      return store_elements(store(at, static_cast<std::uint64_t>(value.size())), value);
    } else if constexpr (detail::IsArray<T>::value) {
      return store_elements(at, value);
    } else if constexpr (detail::IsOptional<T>::value) {
      at = store(at, value.has_value());
      return value ? store(at, *value) : at;
    } else if constexpr (detail::IsVariant<T>::value) {
      at = store(at, static_cast<std::uint8_t>(value.index()));
      return std::visit([&](const auto& alternative) { return store(at, alternative); }, value);
    } else {
      std::apply([&](const auto&... one) { ((at = store(at, value.*(one.member))), ...); }, T::fields());
      return at;
    }
  }
  template <class Range>
  static std::byte* store_elements(std::byte* at, const Range& range) {
    using Element = typename Range::value_type;
    if constexpr (kIsCopied<Element>) {
      return copy(at, range.data(), range.size() * sizeof(Element));
    } else {
      for (const auto& element : range) {
        at = store(at, element);
      }
      return at;
    }
  }
  static std::byte* copy(std::byte* at, const void* from, std::size_t size) {
    if (size != 0) { // memcpy of nothing still wants real pointers
      std::memcpy(at, from, size);
    }
    return at + size;
  }
  ByteVector& out_;
};

/// Reads encoded values from hostile bytes. The first failure sticks: later reads do nothing and return false.
class Reader {
public:
  explicit Reader(ConstBytes in) : in_(in) {}

  [[nodiscard]] bool failed() const noexcept { return !error_.empty(); }
  /// What was wrong, for example "field 'name': 70000 elements, at most 65536 are allowed".
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  [[nodiscard]] std::size_t remaining() const noexcept { return in_.size(); }

  template <class T>
  bool read(T& value, std::uint64_t max_elements = kDefaultMaxElements) {
    return !failed() && read_value(value, max_elements);
  }

private:
  template <class T>
  bool read_value(T& value, std::uint64_t max_elements) {
    if constexpr (PlainScalar<T>) {
      return take(&value, sizeof value);
    } else if constexpr (std::same_as<T, std::byte>) {
      return take(&value, 1);
    } else if constexpr (std::same_as<T, bool>) {
      return read_bool(value);
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> raw{};
      if (!take(&raw, sizeof raw)) {
        return false;
      }
      value = static_cast<T>(raw);
      return is_known(value) || unknown("enumerator", static_cast<std::uint64_t>(raw));
    } else if constexpr (detail::IsStrongId<T>::value) {
      return take(&value.value, sizeof value.value);
    } else if constexpr (std::same_as<T, std::string>) {
      std::uint64_t count = 0;
      if (!read_count(count, max_elements, 1)) {
        return false;
      }
      value.assign(reinterpret_cast<const char*>(in_.data()), static_cast<std::size_t>(count));
      in_ = in_.subspan(static_cast<std::size_t>(count));
      return true;
    } else if constexpr (std::same_as<T, ConstBytes>) {
      std::uint64_t count = 0;
      if (!read_count(count, max_elements, 1)) {
        return false;
      }
      value = in_.first(static_cast<std::size_t>(count));
      in_ = in_.subspan(static_cast<std::size_t>(count));
      return true;
    } else if constexpr (detail::IsVector<T>::value) {
      return read_vector(value, max_elements);
    } else if constexpr (detail::IsArray<T>::value) {
      for (auto& element : value) {
        if (!read_value(element, kDefaultMaxElements)) {
          return false;
        }
      }
      return true;
    } else if constexpr (detail::IsOptional<T>::value) {
      bool present = false;
      if (!read_bool(present)) {
        return false;
      }
      value.reset();
      return !present || read_value(value.emplace(), max_elements);
    } else if constexpr (detail::IsVariant<T>::value) {
      std::uint8_t index = 0;
      return take(&index, 1) && read_alternative<T, 0>(value, index, max_elements);
    } else if constexpr (HasFields<T>) {
      return std::apply([&](const auto&... one) { return (read_field(value, one) && ...); }, T::fields());
    } else {
      static_assert(detail::kUnsupported<T>, "no decoding for this type");
    }
  }

  bool take(void* into, std::size_t size) {
    if (in_.size() < size) [[unlikely]] {
      return ends_too_early();
    }
    if (size != 0) { // memcpy of nothing still wants real pointers
      std::memcpy(into, in_.data(), size);
      in_ = in_.subspan(size);
    }
    return true;
  }
  bool read_bool(bool& value) {
    std::uint8_t raw = 0;
    if (!take(&raw, 1)) {
      return false;
    }
    value = raw != 0;
    return raw <= 1 || fail("a bool that is neither 0 nor 1");
  }
  bool read_count(std::uint64_t& count, std::uint64_t max_elements, std::size_t min_element_bytes) {
    if (!take(&count, sizeof count)) {
      return false;
    }
    if (count > max_elements) [[unlikely]] {
      return too_many(count, max_elements);
    }
    return count <= in_.size() / min_element_bytes || ends_too_early();
  }
  template <class T>
  bool read_vector(T& value, std::uint64_t max_elements) {
    using Element = typename T::value_type;
    std::uint64_t count = 0;
    if (!read_count(count, max_elements, kIsCopied<Element> ? sizeof(Element) : 1)) {
      return false;
    }
    value.clear();
    if constexpr (kIsCopied<Element>) {
      value.resize(static_cast<std::size_t>(count));
      return take(value.data(), static_cast<std::size_t>(count) * sizeof(Element));
    } else {
      // Grows with what really decodes: a lying count cannot reserve more than a few times the bytes that were sent.
      for (std::uint64_t i = 0; i < count; ++i) {
        if (!read_value(value.emplace_back(), kDefaultMaxElements)) {
          return false;
        }
      }
      return true;
    }
  }
  template <class T, std::size_t I>
  bool read_alternative(T& value, std::uint8_t index, std::uint64_t max_elements) {
    if constexpr (I == std::variant_size_v<T>) {
      return unknown("alternative", index);
    } else {
      return index == I ? read_value(value.template emplace<I>(), max_elements) : read_alternative<T, I + 1>(value, index, max_elements);
    }
  }
  template <class T, class Class, class Member>
  bool read_field(T& value, const Field<Class, Member>& one) {
    return read_value(value.*(one.member), one.max_elements) || failed_in(one.name);
  }

  // Failures: out of the way of what is read by the million.
  [[gnu::cold, gnu::noinline]] bool fail(std::string what) {
    if (error_.empty()) {
      error_ = std::move(what);
    }
    return false;
  }
  [[gnu::cold, gnu::noinline]] bool ends_too_early() { return fail("ends too early"); }
  [[gnu::cold, gnu::noinline]] bool too_many(std::uint64_t count, std::uint64_t max_elements) {
    return fail(std::to_string(count) + " elements, at most " + std::to_string(max_elements) + " are allowed");
  }
  [[gnu::cold, gnu::noinline]] bool unknown(const char* what, std::uint64_t value) {
    return fail("unknown " + std::string(what) + " " + std::to_string(value));
  }
  [[gnu::cold, gnu::noinline]] bool failed_in(std::string_view field_name) {
    if (error_.rfind("field ", 0) != 0) {
      error_ = "field '" + std::string(field_name) + "': " + error_;
    }
    return false;
  }

  ConstBytes in_;
  std::string error_;
};

template <class T>
[[nodiscard]] ByteVector encode(const T& value) {
  ByteVector out;
  Writer(out).write(value);
  return out;
}

} // namespace farcl
