// The few things that are needed of OpenSSL beside TLS. Its headers stay in the .cpp files.
#pragma once

#include "farcl/base/bytes.hpp"
#include "farcl/base/result.hpp"
#include "farcl/net/keys.hpp"

#include <initializer_list>
#include <string_view>

namespace farcl::net {

/// Before anything else of OpenSSL: no configuration file is read, nothing is left for the end of the process. Any number of times.
void prepare_openssl();

using Digest = std::array<std::uint8_t, 32>;

/// HMAC-SHA256 over a label, a zero and the parts; the label says what the code is for.
[[nodiscard]] Digest authenticate(const Secret& key, std::string_view label, std::initializer_list<ConstBytes> parts);
/// HKDF-SHA256 of the key, for the purpose that the label names and this context.
[[nodiscard]] Secret derive(const Secret& key, std::string_view label, ConstBytes context);
/// In the same time wherever they differ.
[[nodiscard]] bool are_equal(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) noexcept;

/// From the system's random source.
[[nodiscard]] Status fill_randomly(std::span<std::uint8_t> bytes);

[[nodiscard]] std::string to_base64(const Secret& secret);
[[nodiscard]] Result<Secret> from_base64(std::string_view text);

/// What OpenSSL has to say about the failure of its last call on this thread; empties its list of errors.
[[nodiscard]] std::string openssl_reason();

} // namespace farcl::net
