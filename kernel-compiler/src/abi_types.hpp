// Offsets of kernel_abi.h as the passes use them, and loads through them.
#pragma once

#include "farcl/kernel_compiler/kernel_abi.h"

#include <llvm/IR/IRBuilder.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace farcl::kernel_compiler {

/// Loads a field that does not change while a work-group runs, so the load may move out of every loop.
inline llvm::LoadInst* load_field(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::Value* base, std::size_t offset,
                                  const llvm::Twine& name) {
  llvm::Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
  llvm::LoadInst* load = builder.CreateAlignedLoad(type, address, llvm::Align(type->isIntegerTy(32) ? 4 : 8), name);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
  return load;
}

/// The size that every group of a kernel (or its body) is known to have; zeros if it is not known.
std::array<std::uint64_t, 3> required_group_size(const llvm::Function& kernel);

/// Parameters that a kernel body has behind the kernel's own.
enum BodyParameter : unsigned {
  kBodyLaunch,
  kBodyGroup,
  kBodyLocalId,                      ///< three of them
  kBodyGroupBase = kBodyLocalId + 3, ///< three: global offset + group id * enqueued local size
  kBodyParameterCount = kBodyGroupBase + 3,
};

} // namespace farcl::kernel_compiler
