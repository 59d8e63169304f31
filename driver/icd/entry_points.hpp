// What api_list.def says, as declarations and as a table that the compiler can read.
//
// Entry points live in a namespace, not as C symbols: only the two functions of exports.map are visible outside, and a program
// that holds FarCL and a loader of OpenCL never confuses the two. A definition whose signature differs from the header's does
// not link.
#pragma once

#include "driver/icd/opencl.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace farcl::driver {

/// One enumerator per entry point, named as it.
enum class Entry : std::uint16_t {
#define FARCL_ENTRY(name, ...) name,
#define FARCL_ABSENT(name, ...) name,
#include "driver/icd/api_list.def"
  kCount
};
inline constexpr std::size_t kEntryCount = static_cast<std::size_t>(Entry::kCount);

/// Functions of driver/api/.
namespace entry {
#define FARCL_ENTRY(name, ...) std::remove_pointer_t<cl_api_##name> name;
#define FARCL_ABSENT(name, ...)
#include "driver/icd/api_list.def"
} // namespace entry

struct EntryDescription {
  std::string_view name;
  bool present = false;
  int round_trips = 0;
  std::string_view reason;     ///< of round trips, or of the absence
  std::string_view code_names; ///< "CL_INVALID_VALUE, CL_INVALID_CONTEXT"
  std::span<const cl_int> codes;
};

namespace detail {
template <cl_int... Codes>
inline constexpr std::array<cl_int, sizeof...(Codes)> kCodes = {Codes...};
} // namespace detail

inline constexpr std::array<EntryDescription, kEntryCount> kEntries = {{
#define FARCL_ENTRY(name, round_trips, reason, ...) {#name, true, round_trips, reason, #__VA_ARGS__, detail::kCodes<__VA_ARGS__>},
#define FARCL_ABSENT(name, code, reason) {#name, false, 0, reason, #code, detail::kCodes<code>},
#include "driver/icd/api_list.def"
}};

constexpr const EntryDescription& describe(Entry entry) { return kEntries[static_cast<std::size_t>(entry)]; }

/// What every handle's first word points to.
extern const cl_icd_dispatch kDispatchTable;

} // namespace farcl::driver
