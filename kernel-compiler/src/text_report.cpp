#include "text_report.hpp"

#include <array>

namespace farcl::kernel_compiler {
namespace {

const char* word_of(ArgumentKind kind) {
  constexpr std::array<const char*, 6> kWords = {"value", "global", "constant", "local", "image", "sampler"};
  return kWords.at(static_cast<std::size_t>(kind));
}

} // namespace

std::string text_report(const ProgramInfo& info) {
  std::string text;
  for (const KernelInfo& kernel : info.kernels) {
    text += "kernel " + kernel.name + " attributes \"" + kernel.attributes + "\" max_work_group_size " +
            std::to_string(kernel.max_work_group_size) + " static_local_bytes " + std::to_string(kernel.static_local_bytes) +
            " private_bytes " + std::to_string(kernel.private_bytes) + " frame_bytes_per_item " +
            std::to_string(kernel.frame_bytes_per_item) + " cost_per_item " + std::to_string(kernel.cost_per_item) +
            (kernel.uses_printf ? " printf" : "") + "\n";
    for (const ArgumentInfo& argument : kernel.arguments) {
      text += "  " + std::string(word_of(argument.kind)) + " \"" + argument.type_name + "\" " + argument.name + " size_bytes " +
              std::to_string(argument.size_bytes) + " alignment_bytes " + std::to_string(argument.alignment_bytes) + " type_qualifier " +
              std::to_string(argument.type_qualifier) + "\n";
    }
  }
  return text;
}

} // namespace farcl::kernel_compiler
