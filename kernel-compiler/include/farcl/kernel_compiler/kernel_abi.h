/* The binary contract between compiled kernels and whoever runs them.
 *
 * Plain C, no dependency: the compiler emits code against exactly these layouts (kernel-compiler/src/abi_types.cpp
 * checks the offsets at compile time), the worker includes this header. A change here is a change of
 * FARCL_KERNEL_ABI_VERSION, which is part of every cache key.
 */
#ifndef FARCL_KERNEL_COMPILER_KERNEL_ABI_H
#define FARCL_KERNEL_COMPILER_KERNEL_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FARCL_KERNEL_ABI_VERSION 1

/* Alignment of FarclGroup::local_memory, FarclGroup::frames and of every __local argument (long16 and double16). */
#define FARCL_KERNEL_MEMORY_ALIGNMENT 128

/* One argument of a printf call, as the compiler packed it. */
typedef struct FarclPrintfArgument {
  uint32_t offset;       /* of the value in FarclPrintfRecord::data */
  uint16_t element_size; /* bytes of one element: 1, 2, 4 or 8 */
  uint8_t element_count; /* 1 for a scalar, 2 to 16 for a vector (3 stays 3) */
  uint8_t kind;          /* FARCL_PRINTF_INTEGER, _FLOAT or _POINTER */
} FarclPrintfArgument;

enum { FARCL_PRINTF_INTEGER = 0, FARCL_PRINTF_FLOAT = 1, FARCL_PRINTF_POINTER = 2 };

/* One printf call of one work-item; valid only during the call of printf_write.
 * farcl/kernel_compiler/printf_format.hpp turns it into text. */
typedef struct FarclPrintfRecord {
  const char* format;
  const FarclPrintfArgument* arguments;
  const unsigned char* data;
  uint32_t argument_count;
  uint32_t data_size;
} FarclPrintfRecord;

/* The same for all work-groups of one launch; must not change while the launch runs.
 * Dimensions past work_dim hold size 1, offset 0, one group. */
typedef struct FarclLaunch {
  uint32_t work_dim;
  uint32_t reserved;
  uint64_t global_size[3];
  uint64_t global_offset[3];
  uint64_t local_size[3]; /* the enqueued local size, also where the last group is smaller */
  uint64_t num_groups[3];
  void* printf_context;
  /* Called on the thread that runs the work-group; returns what printf returns to the kernel. May be null only if
   * KernelInfo says that the kernel has no printf. */
  int (*printf_write)(void* printf_context, const FarclPrintfRecord* record);
} FarclLaunch;

/* One work-group. The callee does not write to it. */
typedef struct FarclGroup {
  uint64_t group_id[3];
  uint64_t local_size[3]; /* the actual size of this group: smaller at the edge of a non-uniform range */
  void* local_memory;     /* KernelInfo::static_local_bytes, contents undefined */
  void* frames;           /* KernelInfo::frame_bytes_per_item * work-items of this group; may be null if that is 0 */
} FarclGroup;

/* Runs one whole work-group, all its work-items, on the calling thread; returns when the last one has ended.
 *
 * arguments[i] points to the bytes of argument i:
 *   value            the value, size_bytes long, at its natural alignment
 *   global, constant a pointer to the address (which may be null)
 *   local            a pointer to the address of memory that the caller laid out for this group, aligned to
 *                    FARCL_KERNEL_MEMORY_ALIGNMENT
 *
 * Needs KernelInfo::private_bytes plus some 16 KiB of stack. The caller may run several groups of a launch at once on
 * different threads, each with its own local_memory, frames and local arguments. */
typedef void (*FarclKernelFunction)(const FarclLaunch* launch, const FarclGroup* group, void* const* arguments);

#ifdef __cplusplus
}
#endif

#endif
