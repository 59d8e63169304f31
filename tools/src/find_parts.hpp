// Where FarCL's other parts are, for a build tree and for an installation.
#pragma once

#include "farcl/base/result.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace farcl::tools {

/// The folder of the running program.
[[nodiscard]] std::filesystem::path own_folder();
/// farcld: beside this program, in libexec/farcl or sbin of the same prefix, or in PATH.
[[nodiscard]] Result<std::filesystem::path> find_daemon();
/// libfarcl.so of the same build tree or prefix; nothing when only the system's installed one exists.
[[nodiscard]] std::optional<std::filesystem::path> find_driver();
/// As the shell would: `name` itself if it has a slash, else the first executable file of that name in PATH.
[[nodiscard]] std::optional<std::filesystem::path> find_in_path(const std::string& name);

} // namespace farcl::tools
