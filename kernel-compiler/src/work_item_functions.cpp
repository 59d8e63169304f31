#include "work_item_functions.hpp"

#include "markers.hpp"

#include <llvm/ADT/StringSwitch.h>

namespace farcl::kernel_compiler {

using llvm::StringRef;

std::optional<WorkItemFunction> find_work_item_function(StringRef mangled_name) {
  using Found = std::optional<WorkItemFunction>;
  return llvm::StringSwitch<Found>(mangled_name)
      .Case("_Z12get_work_dimv", WorkItemFunction::kWorkDim)
      .Case("_Z15get_global_sizej", WorkItemFunction::kGlobalSize)
      .Case("_Z13get_global_idj", WorkItemFunction::kGlobalId)
      .Case("_Z14get_local_sizej", WorkItemFunction::kLocalSize)
      .Case("_Z23get_enqueued_local_sizej", WorkItemFunction::kEnqueuedLocalSize)
      .Case("_Z12get_local_idj", WorkItemFunction::kLocalId)
      .Case("_Z14get_num_groupsj", WorkItemFunction::kNumGroups)
      .Case("_Z12get_group_idj", WorkItemFunction::kGroupId)
      .Case("_Z17get_global_offsetj", WorkItemFunction::kGlobalOffset)
      .Case("_Z20get_global_linear_idv", WorkItemFunction::kGlobalLinearId)
      .Case("_Z19get_local_linear_idv", WorkItemFunction::kLocalLinearId)
      .Default(std::nullopt);
}

bool is_barrier(StringRef mangled_name) { return mangled_name == kBarrierFunction; }

bool is_printf(StringRef name) { return name == "printf"; }

bool is_host_function(StringRef name) {
#define FARCL_HOST_FUNCTION(NAME) \
  if (name == #NAME)              \
    return true;
#include "host_functions.def"
#undef FARCL_HOST_FUNCTION
  return false;
}

bool is_lowered_later(StringRef name) {
  return find_work_item_function(name).has_value() || is_barrier(name) || is_printf(name) || name == kLocalBaseFunction ||
         name == kFrameSizeFunction;
}

} // namespace farcl::kernel_compiler
