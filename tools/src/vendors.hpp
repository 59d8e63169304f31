// Which OpenCL platforms a program sees: the folder of .icd files that the ICD loader reads.
#pragma once

#include "farcl/base/result.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace farcl::tools {

enum class Platforms { kFarclBesideOthers, kFarclOnly };

/// The value of OCL_ICD_VENDORS with which a program sees FarCL, beside the platforms it sees now or alone. Nothing when the
/// environment is right already (FarCL is installed for everybody). A folder of links is made at `folder` if one is needed.
[[nodiscard]] Result<std::optional<std::string>> prepare_vendors(const std::filesystem::path& folder, Platforms platforms);

} // namespace farcl::tools
