#include "abi_types.hpp"

#include "markers.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Metadata.h>

namespace farcl::kernel_compiler {

using namespace llvm;

// The compiler emits loads at these offsets; a compiled kernel outlives a rebuild of the worker in the disk cache.
static_assert(offsetof(FarclLaunch, global_size) == 8 && offsetof(FarclLaunch, global_offset) == 32 &&
              offsetof(FarclLaunch, local_size) == 56 && offsetof(FarclLaunch, num_groups) == 80 &&
              offsetof(FarclLaunch, printf_context) == 104 && offsetof(FarclLaunch, printf_write) == 112);
static_assert(offsetof(FarclGroup, local_size) == 24 && offsetof(FarclGroup, local_memory) == 48 && offsetof(FarclGroup, frames) == 56);

std::array<std::uint64_t, 3> required_group_size(const Function& kernel) {
  std::array<std::uint64_t, 3> size{};
  const MDNode* node = kernel.getMetadata("reqd_work_group_size");
  if (node != nullptr && node->getNumOperands() == 3 && kernel.hasFnAttribute(kUniformAttribute)) {
    for (unsigned i = 0; i < 3; ++i) {
      size[i] = mdconst::extract<ConstantInt>(node->getOperand(i))->getZExtValue();
    }
  }
  return size;
}

} // namespace farcl::kernel_compiler
