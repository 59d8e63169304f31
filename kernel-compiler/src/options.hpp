// The options string of clBuildProgram, clCompileProgram and clLinkProgram: split, checked, turned into what clang's front
// end understands. No LLVM here.
#pragma once

#include "farcl/kernel_compiler/messages.hpp"

#include <string>
#include <vector>

namespace farcl::kernel_compiler {

struct Options {
  std::vector<std::string> clang_arguments; ///< -D, -cl-..., -w, ... as clang's -cc1 takes them
  std::vector<std::string> include_folders; ///< of -I, in order
  std::string language_standard = "CL1.2";  ///< of -cl-std
  bool optimise = true;                     ///< false with -cl-opt-disable
  bool create_library = false;              ///< -create-library (link only)
  bool uniform_work_groups = false;         ///< all groups are full: -cl-uniform-work-group-size, or OpenCL C before 2.0
  std::string fault;                        ///< not empty: what is wrong with the options, in a sentence
};

/// Splits like a shell does: spaces outside quotes separate, backslash takes the next character as it is.
[[nodiscard]] std::vector<std::string> split_options(const std::string& text, std::string& fault);
[[nodiscard]] Options parse_options(const std::string& text, Stage stage);

} // namespace farcl::kernel_compiler
