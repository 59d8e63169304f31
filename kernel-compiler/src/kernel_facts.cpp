#include "kernel_facts.hpp"

#include "abi_types.hpp"
#include "markers.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

// Values of CL/cl.h, which this folder does not include.
constexpr std::uint32_t kAddressGlobal = 0x119B;
constexpr std::uint32_t kAddressLocal = 0x119C;
constexpr std::uint32_t kAddressConstant = 0x119D;
constexpr std::uint32_t kAddressPrivate = 0x119E;
constexpr std::uint32_t kAccessReadOnly = 0x11A0;
constexpr std::uint32_t kAccessWriteOnly = 0x11A1;
constexpr std::uint32_t kAccessReadWrite = 0x11A2;
constexpr std::uint32_t kAccessNone = 0x11A3;
constexpr std::uint64_t kTypeConst = 1;
constexpr std::uint64_t kTypeRestrict = 2;
constexpr std::uint64_t kTypeVolatile = 4;
constexpr std::uint64_t kTypePipe = 8;

/// Lanes of the widest common vector register, in floats.
constexpr std::uint64_t kPreferredMultiple = 16;
/// Frames of one group stay within this.
constexpr std::uint64_t kMaxFrameBytesPerGroup = 128ULL << 20;

StringRef string_of(const MDNode* node, unsigned i) {
  const auto* text = node != nullptr && i < node->getNumOperands() ? dyn_cast<MDString>(node->getOperand(i)) : nullptr;
  return text != nullptr ? text->getString() : StringRef();
}

std::uint64_t integer_of(const MDNode* node, unsigned i) {
  const auto* value = node != nullptr && i < node->getNumOperands() ? mdconst::dyn_extract<ConstantInt>(node->getOperand(i)) : nullptr;
  return value != nullptr ? value->getZExtValue() : 0;
}

std::uint64_t qualifiers_of(StringRef words) {
  std::uint64_t qualifiers = 0;
  SmallVector<StringRef> parts;
  words.split(parts, ' ', -1, false);
  for (const StringRef part : parts) {
    qualifiers |= part == "const"      ? kTypeConst
                  : part == "restrict" ? kTypeRestrict
                  : part == "volatile" ? kTypeVolatile
                  : part == "pipe"     ? kTypePipe
                                       : 0;
  }
  return qualifiers;
}

std::uint32_t access_of(StringRef word) {
  return word == "read_only"    ? kAccessReadOnly
         : word == "write_only" ? kAccessWriteOnly
         : word == "read_write" ? kAccessReadWrite
                                : kAccessNone;
}

void set_address_space(ArgumentInfo& info, std::uint64_t space) {
  switch (space) {
  case kGlobalAddressSpace:
    info.address_qualifier = kAddressGlobal;
    info.kind = ArgumentKind::kGlobal;
    break;
  case kConstantAddressSpace:
    info.address_qualifier = kAddressConstant;
    info.kind = ArgumentKind::kConstant;
    break;
  case kLocalAddressSpace:
    info.address_qualifier = kAddressLocal;
    info.kind = ArgumentKind::kLocal;
    break;
  default: info.address_qualifier = kAddressPrivate; info.kind = ArgumentKind::kValue;
  }
}

ArgumentInfo describe_argument(const Function& kernel, const Argument& argument) {
  const unsigned i = argument.getArgNo();
  const DataLayout& layout = kernel.getDataLayout();
  ArgumentInfo info;
  info.name = string_of(kernel.getMetadata("kernel_arg_name"), i).str();
  info.type_name = string_of(kernel.getMetadata("kernel_arg_type"), i).str();
  info.access_qualifier = access_of(string_of(kernel.getMetadata("kernel_arg_access_qual"), i));
  info.type_qualifier = qualifiers_of(string_of(kernel.getMetadata("kernel_arg_type_qual"), i));
  set_address_space(info, integer_of(kernel.getMetadata("kernel_arg_addr_space"), i));
  if (info.kind == ArgumentKind::kConstant) {
    info.type_qualifier |= kTypeConst;
  }
  if (argument.hasByValAttr()) {
    info.size_bytes = static_cast<std::uint32_t>(layout.getTypeAllocSize(argument.getParamByValType()));
    info.alignment_bytes = static_cast<std::uint32_t>(argument.getParamAlign().valueOrOne().value());
  } else if (argument.getType()->isPointerTy()) {
    info.size_bytes = 8;
    info.alignment_bytes = static_cast<std::uint32_t>(argument.getParamAlign().valueOrOne().value());
  } else {
    info.size_bytes = static_cast<std::uint32_t>(layout.getTypeAllocSize(argument.getType()));
    info.alignment_bytes = static_cast<std::uint32_t>(layout.getABITypeAlign(argument.getType()).value());
  }
  return info;
}

std::array<std::uint64_t, 3> triple_of(const MDNode* node) { return {integer_of(node, 0), integer_of(node, 1), integer_of(node, 2)}; }

std::string words_of(const std::array<std::uint64_t, 3>& triple) {
  return "(" + std::to_string(triple[0]) + "," + std::to_string(triple[1]) + "," + std::to_string(triple[2]) + ")";
}

/// The source's spelling: float4, uint2.
std::string type_word(const Type* type, bool is_signed) {
  const auto* vector = dyn_cast<FixedVectorType>(type);
  const Type* element = type->getScalarType();
  std::string word = element->isHalfTy() ? "half" : element->isFloatTy() ? "float" : element->isDoubleTy() ? "double" : "";
  if (const auto* integer = dyn_cast<IntegerType>(element)) {
    const unsigned bits = integer->getBitWidth();
    word = std::string(is_signed ? "" : "u") + (bits == 8 ? "char" : bits == 16 ? "short" : bits == 32 ? "int" : "long");
  }
  return vector != nullptr ? word + std::to_string(vector->getNumElements()) : word;
}

std::string attributes_of(const Function& kernel, const KernelInfo& info) {
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : " ") + one; };
  if (info.required_work_group_size[0] != 0) {
    add("reqd_work_group_size" + words_of(info.required_work_group_size));
  }
  if (info.work_group_size_hint[0] != 0) {
    add("work_group_size_hint" + words_of(info.work_group_size_hint));
  }
  if (const MDNode* hint = kernel.getMetadata("vec_type_hint"); hint != nullptr && hint->getNumOperands() == 2) {
    if (const auto* value = dyn_cast<ValueAsMetadata>(hint->getOperand(0))) {
      add("vec_type_hint(" + type_word(value->getType(), integer_of(hint, 1) != 0) + ")");
    }
  }
  return text;
}

KernelInfo* find(ProgramInfo& info, StringRef name) {
  const auto found = std::find_if(info.kernels.begin(), info.kernels.end(), [&](const KernelInfo& one) { return one.name == name; });
  return found != info.kernels.end() ? &*found : nullptr;
}

/// Instructions that one work-item can execute at most; 0 if there is a loop or a call.
std::uint64_t bounded_cost(const Function& body) {
  SmallPtrSet<const BasicBlock*, 32> seen;
  std::uint64_t cost = 1;
  for (const BasicBlock* block : ReversePostOrderTraversal<const Function*>(&body)) {
    seen.insert(block);
    for (const BasicBlock* next : successors(block)) {
      if (seen.contains(next)) {
        return 0;
      }
    }
    for (const Instruction& instruction : *block) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      if (call != nullptr && (!isa<IntrinsicInst>(call) || isa<AnyMemIntrinsic>(call))) {
        return 0;
      }
      ++cost;
    }
  }
  return cost;
}

std::uint64_t stack_bytes(const Function& body) {
  std::uint64_t bytes = 0;
  for (const Instruction& instruction : instructions(body)) {
    if (const auto* variable = dyn_cast<AllocaInst>(&instruction)) {
      bytes += variable->getAllocationSize(body.getDataLayout()).value_or(TypeSize::getFixed(0)).getFixedValue();
    }
  }
  for (const Argument& argument : body.args()) {
    if (argument.hasByValAttr()) {
      bytes += body.getDataLayout().getTypeAllocSize(argument.getParamByValType());
    }
  }
  return bytes;
}

std::uint64_t number_of(const Function& function, StringRef attribute) {
  std::uint64_t value = 0;
  return function.hasFnAttribute(attribute) && !function.getFnAttribute(attribute).getValueAsString().getAsInteger(10, value) ? value : 0;
}

} // namespace

ProgramInfo describe_kernels(const Module& module) {
  ProgramInfo program;
  for (const Function& function : module) {
    if (function.getCallingConv() != CallingConv::SPIR_KERNEL || function.isDeclaration()) {
      continue;
    }
    KernelInfo kernel;
    kernel.name = function.getName().str();
    for (const Argument& argument : function.args()) {
      kernel.arguments.push_back(describe_argument(function, argument));
    }
    kernel.required_work_group_size = triple_of(function.getMetadata("reqd_work_group_size"));
    kernel.work_group_size_hint = triple_of(function.getMetadata("work_group_size_hint"));
    kernel.attributes = attributes_of(function, kernel);
    kernel.max_work_group_size = kMaxWorkGroupSize;
    kernel.preferred_multiple = kPreferredMultiple;
    program.kernels.push_back(std::move(kernel));
  }
  return program;
}

void measure_bodies(const Module& module, ProgramInfo& info) {
  for (const Function& body : module) {
    if (!body.hasFnAttribute(kKernelAttribute)) {
      continue;
    }
    if (KernelInfo* kernel = find(info, body.getFnAttribute(kKernelAttribute).getValueAsString())) {
      kernel->cost_per_item = bounded_cost(body);
      kernel->private_bytes = stack_bytes(body);
      kernel->uniform_work_groups = body.hasFnAttribute(kUniformAttribute);
    }
  }
}

void measure_entries(const Module& module, ProgramInfo& info) {
  for (const Function& entry : module) {
    if (!entry.hasFnAttribute(kKernelAttribute)) {
      continue;
    }
    KernelInfo* kernel = find(info, entry.getFnAttribute(kKernelAttribute).getValueAsString());
    if (kernel == nullptr) {
      continue;
    }
    kernel->static_local_bytes = number_of(entry, kLocalBytesAttribute);
    kernel->frame_bytes_per_item = number_of(entry, kFrameBytesAttribute);
    kernel->uses_printf = entry.hasFnAttribute(kPrintfAttribute);
    kernel->private_bytes = std::max(kernel->private_bytes, kernel->frame_bytes_per_item);
    while (kernel->frame_bytes_per_item * kernel->max_work_group_size > kMaxFrameBytesPerGroup) {
      kernel->max_work_group_size /= 2;
    }
  }
}

} // namespace farcl::kernel_compiler
