// Names by which one pass tells a later one something, and names of the functions that OpenCL C sources call.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace farcl::kernel_compiler {

/// Address space numbers of the spir64 front end.
inline constexpr unsigned kGlobalAddressSpace = 1;
inline constexpr unsigned kConstantAddressSpace = 2;
inline constexpr unsigned kLocalAddressSpace = 3;
inline constexpr unsigned kGenericAddressSpace = 4;

/// On a variable: was __local.
inline constexpr llvm::StringLiteral kLocalAttribute = "farcl-local";
/// On a function: is a kernel; its value is the name to export.
inline constexpr llvm::StringLiteral kKernelAttribute = "farcl-kernel";
/// On a kernel: bytes of its static __local variables.
inline constexpr llvm::StringLiteral kLocalBytesAttribute = "farcl-local-bytes";
/// On a kernel: every work-group is full, so reqd_work_group_size is its actual size.
inline constexpr llvm::StringLiteral kUniformAttribute = "farcl-uniform-groups";
/// On a kernel body: calls printf.
inline constexpr llvm::StringLiteral kPrintfAttribute = "farcl-printf";
/// On a kernel body: has barriers, is a coroutine.
inline constexpr llvm::StringLiteral kCoroutineAttribute = "farcl-coroutine";
/// On an entry function: bytes of frame for each work-item.
inline constexpr llvm::StringLiteral kFrameBytesAttribute = "farcl-frame-bytes";

/// In front of everything that the source defines, so that neither LLVM nor the linker takes it for a function of C.
inline constexpr llvm::StringLiteral kUserPrefix = "u.";
/// A barrier of any kind, after the builtin library's variants were reduced to one.
inline constexpr llvm::StringLiteral kBarrierFunction = "_Z7barrierj";
/// Carries llvm.coro.size out of a coroutine.
inline constexpr llvm::StringLiteral kFrameSizeFunction = "farcl.frame.size";
/// Gives the address of the static __local block.
inline constexpr llvm::StringLiteral kLocalBaseFunction = "farcl.local.base";
inline constexpr llvm::StringLiteral kBodySuffix = ".body";

inline constexpr llvm::StringLiteral kVersionVariable = "farcl_abi_version";

/// Prefix of the kernels' exported names.
inline constexpr llvm::StringLiteral kExportPrefix = "farcl_kernel_";

} // namespace farcl::kernel_compiler
