// Values for every message, made from its list of fields: fixed ones (golden bytes, fuzz seeds) and random ones.
#pragma once

#include "farcl/protocol/message_list.hpp"

#include <deque>
#include <random>
#include <string>

namespace farcl::testing {

/// Where the values come from. Owns the memory behind ConstBytes.
class ValueSource {
public:
  virtual ~ValueSource() = default;
  virtual std::uint64_t number() = 0;                        ///< any 64 bits
  virtual std::size_t count(std::uint64_t max_elements) = 0; ///< of a vector, string or ConstBytes
  virtual std::size_t choice(std::size_t alternatives) = 0;

  ConstBytes bytes(std::size_t size) {
    ByteVector& out = memory_.emplace_back();
    for (std::size_t i = 0; i < size; ++i) {
      out.push_back(static_cast<std::byte>(number()));
    }
    return out;
  }

private:
  std::deque<ByteVector> memory_;
};

/// Always the same values, each different from the one before: a field in the wrong place shows.
class FixedValues final : public ValueSource {
public:
  std::uint64_t number() override {
    ++next_;
    return next_ | (next_ + 0x10) << 8 | (next_ + 0x20) << 16 | (next_ + 0x30) << 24 | (next_ + 0x40) << 32 | (next_ + 0x50) << 40 |
           (next_ + 0x60) << 48 | (next_ + 0x70) << 56;
  }
  std::size_t count(std::uint64_t max_elements) override { return static_cast<std::size_t>(std::min<std::uint64_t>(3, max_elements)); }
  std::size_t choice(std::size_t alternatives) override { return choices_++ % alternatives; }

private:
  std::uint64_t next_ = 0;
  std::size_t choices_ = 0;
};

class RandomValues final : public ValueSource {
public:
  explicit RandomValues(std::uint64_t seed) : random_(seed) {}
  std::uint64_t number() override {
    // Small, large and extreme numbers.
    switch (random_() % 4) {
    case 0: return random_() % 8;
    case 1: return ~std::uint64_t{0} - random_() % 8;
    default: return random_();
    }
  }
  std::size_t count(std::uint64_t max_elements) override {
    return static_cast<std::size_t>(random_() % std::min<std::uint64_t>(6, max_elements + 1));
  }
  std::size_t choice(std::size_t alternatives) override { return random_() % alternatives; }

private:
  std::mt19937_64 random_;
};

template <class T>
void fill(T& value, ValueSource& source, std::uint64_t max_elements = kDefaultMaxElements);

namespace detail {
template <class T, std::size_t... I>
void fill_alternative(T& value, std::size_t index, ValueSource& source, std::uint64_t max_elements, std::index_sequence<I...>) {
  ((I == index ? fill(value.template emplace<I>(), source, max_elements) : void()), ...);
}
template <class T>
T known_enumerator(ValueSource& source) {
  std::size_t known = 0;
  while (is_known(static_cast<T>(known))) {
    ++known;
  }
  return static_cast<T>(source.choice(known));
}
} // namespace detail

template <class T>
void fill(T& value, ValueSource& source, std::uint64_t max_elements) {
  if constexpr (std::same_as<T, bool>) {
    value = source.choice(2) == 0;
  } else if constexpr (PlainScalar<T>) {
    value = static_cast<T>(source.number());
  } else if constexpr (std::is_enum_v<T>) {
    value = detail::known_enumerator<T>(source);
  } else if constexpr (farcl::detail::IsStrongId<T>::value) {
    value.value = source.number();
  } else if constexpr (std::same_as<T, std::string>) {
    value.clear();
    for (std::size_t n = source.count(max_elements); n != 0; --n) {
      value += static_cast<char>('a' + source.number() % 26);
    }
  } else if constexpr (std::same_as<T, ConstBytes>) {
    value = source.bytes(source.count(max_elements));
  } else if constexpr (farcl::detail::IsVector<T>::value) {
    value.resize(source.count(max_elements));
    for (auto& element : value) {
      fill(element, source);
    }
  } else if constexpr (farcl::detail::IsArray<T>::value) {
    for (auto& element : value) {
      fill(element, source);
    }
  } else if constexpr (farcl::detail::IsOptional<T>::value) {
    if (source.choice(2) == 0) {
      fill(value.emplace(), source, max_elements);
    } else {
      value.reset();
    }
  } else if constexpr (farcl::detail::IsVariant<T>::value) {
    constexpr std::size_t kAlternatives = std::variant_size_v<T>;
    detail::fill_alternative(value, source.choice(kAlternatives), source, max_elements, std::make_index_sequence<kAlternatives>());
  } else {
    std::apply([&](const auto&... one) { (fill(value.*(one.member), source, one.max_elements), ...); }, T::fields());
  }
}

/// The fixed sample of a message. `values` owns what it refers to.
template <class Message>
Message sample(FixedValues& values) {
  Message message;
  fill(message, values);
  return message;
}

/// Calls `function.template operator()<Message>()` for every message of both directions.
template <class Function>
void for_each_message_of_both(Function&& function) {
  protocol::for_each_message(protocol::ClientMessages{}, function);
  protocol::for_each_message(protocol::ServerMessages{}, function);
}

} // namespace farcl::testing
