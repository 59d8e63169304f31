// Barriers and fences. Every kind of barrier is barrier(), which the compiler lowers. On a CPU a work-group runs on one
// thread, so fences order only against other work-groups.
#include "builtins.h"

OVERLOAD void work_group_barrier(cl_mem_fence_flags flags) { barrier(flags); }
OVERLOAD void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { barrier(flags); }

OVERLOAD void mem_fence(cl_mem_fence_flags flags) { __scoped_atomic_thread_fence(__ATOMIC_SEQ_CST, __MEMORY_SCOPE_SYSTEM); }
OVERLOAD void read_mem_fence(cl_mem_fence_flags flags) { __scoped_atomic_thread_fence(__ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM); }
OVERLOAD void write_mem_fence(cl_mem_fence_flags flags) { __scoped_atomic_thread_fence(__ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM); }
OVERLOAD void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope) {
  __scoped_atomic_thread_fence(__ATOMIC_SEQ_CST, __MEMORY_SCOPE_SYSTEM);
}
