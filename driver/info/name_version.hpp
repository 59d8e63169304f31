// Lists of cl_name_version. On the wire they are text: "name:major.minor.patch;name:major.minor.patch".
#pragma once

#include "driver/icd/opencl.hpp"

#include <string_view>
#include <vector>

namespace farcl::driver {

[[nodiscard]] cl_name_version make_name_version(std::string_view name, cl_version version);
/// Entries that do not parse are left out: the text comes from a server.
[[nodiscard]] std::vector<cl_name_version> parse_name_versions(std::string_view text);
/// For servers that only say CL_DEVICE_EXTENSIONS: each with version 1.0.0.
[[nodiscard]] std::vector<cl_name_version> name_versions_of_extensions(std::string_view extensions);
/// The version in "OpenCL C 1.2 something" or "OpenCL 3.0 something"; 0 if there is none.
[[nodiscard]] cl_version version_in(std::string_view text);

} // namespace farcl::driver
