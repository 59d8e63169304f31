// Messages as text, for trace logs, tests and the protocol table: "EnqueueMarker{command={queue=3 event=7 ...} barrier=false}".
#pragma once

#include "farcl/protocol/message_list.hpp"

#include <string>

namespace farcl::protocol {

namespace detail {
template <class T>
void print_to(std::string& out, const T& value) {
  if constexpr (std::same_as<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::integral<T>) {
    out += std::to_string(value);
  } else if constexpr (std::is_enum_v<T>) {
    out += std::to_string(static_cast<std::uint64_t>(value));
  } else if constexpr (farcl::detail::IsStrongId<T>::value) {
    out += std::to_string(value.value);
  } else if constexpr (std::same_as<T, std::string>) {
    out += '"' + value.substr(0, 64) + (value.size() > 64 ? "...\"" : "\"");
  } else if constexpr (std::same_as<T, ConstBytes>) {
    out += '<' + std::to_string(value.size()) + " bytes>";
  } else if constexpr (farcl::detail::IsOptional<T>::value) {
    if (value) {
      print_to(out, *value);
    } else {
      out += "none";
    }
  } else if constexpr (farcl::detail::IsVariant<T>::value) {
    std::visit([&](const auto& alternative) { print_to(out, alternative); }, value);
  } else if constexpr (HasFields<T>) {
    out += '{';
    std::apply(
        [&](const auto&... one) {
          std::size_t index = 0;
          ((out += (index++ == 0 ? "" : " "), out += one.name, out += '=', print_to(out, value.*(one.member))), ...);
        },
        T::fields());
    out += '}';
  } else { // vectors and arrays
    out += '[';
    for (const auto& element : value) {
      print_to(out, element);
      out += ' ';
    }
    out += ']';
  }
}
} // namespace detail

template <class Message>
[[nodiscard]] std::string print(const Message& message) {
  std::string out(kMessageName<Message>);
  detail::print_to(out, message);
  return out;
}

} // namespace farcl::protocol
