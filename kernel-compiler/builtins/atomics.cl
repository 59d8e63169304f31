// 64-bit atomics (cl_khr_int64_*_atomics) and the C11 atomics that libclc lacks. Every order is done as the strongest: on
// x86 read-modify-write operations cost the same.
#include "builtins.h"
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define ORDER memory_order_seq_cst
#define SCOPE memory_scope_device

#define ATOM64(AS, TYPE, ATOMIC)                                                                                           \
  OVERLOAD TYPE atom_add(volatile AS TYPE* p, TYPE v) { return __opencl_atomic_fetch_add((volatile AS ATOMIC*)p, v, ORDER, SCOPE); }    \
  OVERLOAD TYPE atom_sub(volatile AS TYPE* p, TYPE v) { return __opencl_atomic_fetch_sub((volatile AS ATOMIC*)p, v, ORDER, SCOPE); }    \
  OVERLOAD TYPE atom_and(volatile AS TYPE* p, TYPE v) { return __opencl_atomic_fetch_and((volatile AS ATOMIC*)p, v, ORDER, SCOPE); }    \
  OVERLOAD TYPE atom_or(volatile AS TYPE* p, TYPE v) { return __opencl_atomic_fetch_or((volatile AS ATOMIC*)p, v, ORDER, SCOPE); }      \
  OVERLOAD TYPE atom_xor(volatile AS TYPE* p, TYPE v) { return __opencl_atomic_fetch_xor((volatile AS ATOMIC*)p, v, ORDER, SCOPE); }    \
  OVERLOAD TYPE atom_min(volatile AS TYPE* p, TYPE v) { return __opencl_atomic_fetch_min((volatile AS ATOMIC*)p, v, ORDER, SCOPE); }    \
  OVERLOAD TYPE atom_max(volatile AS TYPE* p, TYPE v) { return __opencl_atomic_fetch_max((volatile AS ATOMIC*)p, v, ORDER, SCOPE); }    \
  OVERLOAD TYPE atom_xchg(volatile AS TYPE* p, TYPE v) { return __opencl_atomic_exchange((volatile AS ATOMIC*)p, v, ORDER, SCOPE); }    \
  OVERLOAD TYPE atom_inc(volatile AS TYPE* p) { return __opencl_atomic_fetch_add((volatile AS ATOMIC*)p, (TYPE)1, ORDER, SCOPE); }      \
  OVERLOAD TYPE atom_dec(volatile AS TYPE* p) { return __opencl_atomic_fetch_sub((volatile AS ATOMIC*)p, (TYPE)1, ORDER, SCOPE); }      \
  OVERLOAD TYPE atom_cmpxchg(volatile AS TYPE* p, TYPE expected, TYPE v) {                                                 \
    __opencl_atomic_compare_exchange_strong((volatile AS ATOMIC*)p, &expected, v, ORDER, ORDER, SCOPE);                    \
    return expected;                                                                                                       \
  }
ATOM64(global, long, atomic_long)
ATOM64(global, ulong, atomic_ulong)
ATOM64(local, long, atomic_long)
ATOM64(local, ulong, atomic_ulong)

#define EXCHANGE(AS, TYPE, ATOMIC)                                                                                         \
  OVERLOAD void atomic_init(volatile AS ATOMIC* p, TYPE v) { __opencl_atomic_store(p, v, memory_order_relaxed, SCOPE); }   \
  OVERLOAD TYPE atomic_load_explicit(volatile AS ATOMIC* p, memory_order order, memory_scope scope) {                      \
    return __opencl_atomic_load(p, ORDER, SCOPE);                                                                          \
  }                                                                                                                        \
  OVERLOAD void atomic_store_explicit(volatile AS ATOMIC* p, TYPE v, memory_order order, memory_scope scope) {             \
    __opencl_atomic_store(p, v, ORDER, SCOPE);                                                                             \
  }                                                                                                                        \
  OVERLOAD TYPE atomic_exchange_explicit(volatile AS ATOMIC* p, TYPE v, memory_order order, memory_scope scope) {          \
    return __opencl_atomic_exchange(p, v, ORDER, SCOPE);                                                                   \
  }
#define EXCHANGE_ALL(AS) EXCHANGE(AS, long, atomic_long) EXCHANGE(AS, ulong, atomic_ulong) EXCHANGE(AS, double, atomic_double)
EXCHANGE_ALL(global)
EXCHANGE_ALL(local)

#define FETCH(AS, OP, TYPE, ATOMIC, OPERAND)                                                                               \
  OVERLOAD TYPE atomic_fetch_##OP##_explicit(volatile AS ATOMIC* p, OPERAND v, memory_order order, memory_scope scope) {   \
    return __opencl_atomic_fetch_##OP(p, v, ORDER, SCOPE);                                                                 \
  }
#define FETCH_ALL(AS)                                                                                                      \
  FETCH(AS, add, long, atomic_long, long) FETCH(AS, add, ulong, atomic_ulong, ulong)                                       \
  FETCH(AS, sub, long, atomic_long, long) FETCH(AS, sub, ulong, atomic_ulong, ulong)                                       \
  FETCH(AS, or, long, atomic_long, long) FETCH(AS, or, ulong, atomic_ulong, ulong)                                         \
  FETCH(AS, xor, long, atomic_long, long) FETCH(AS, xor, ulong, atomic_ulong, ulong)                                       \
  FETCH(AS, and, long, atomic_long, long) FETCH(AS, and, ulong, atomic_ulong, ulong)                                       \
  FETCH(AS, min, long, atomic_long, long) FETCH(AS, min, ulong, atomic_ulong, ulong)                                       \
  FETCH(AS, max, long, atomic_long, long) FETCH(AS, max, ulong, atomic_ulong, ulong)
// clang declares these mixed ones as well.
#define FETCH_MIXED(AS)                                                                                                    \
  FETCH(AS, add, ulong, atomic_ulong, long) FETCH(AS, sub, ulong, atomic_ulong, long) FETCH(AS, min, long, atomic_long, ulong) \
  FETCH(AS, or, long, atomic_long, ulong) FETCH(AS, or, ulong, atomic_ulong, long)                                         \
  FETCH(AS, xor, long, atomic_long, ulong) FETCH(AS, xor, ulong, atomic_ulong, long)                                       \
  FETCH(AS, and, long, atomic_long, ulong) FETCH(AS, and, ulong, atomic_ulong, long)
FETCH_ALL(global)
FETCH_ALL(local)
FETCH_MIXED(global)
FETCH_MIXED(local)

#define COMPARE(KIND, AS, EXPECTED_AS, TYPE, ATOMIC)                                                                       \
  OVERLOAD bool atomic_compare_exchange_##KIND##_explicit(volatile AS ATOMIC* p, EXPECTED_AS TYPE* expected, TYPE v,       \
                                                          memory_order success, memory_order failure, memory_scope scope) { \
    return __opencl_atomic_compare_exchange_strong(p, expected, v, ORDER, ORDER, SCOPE);                                   \
  }
#define COMPARE_TYPES(KIND, AS, EXPECTED_AS)                                                                               \
  COMPARE(KIND, AS, EXPECTED_AS, int, atomic_int) COMPARE(KIND, AS, EXPECTED_AS, uint, atomic_uint)                        \
  COMPARE(KIND, AS, EXPECTED_AS, float, atomic_float) COMPARE(KIND, AS, EXPECTED_AS, long, atomic_long)                    \
  COMPARE(KIND, AS, EXPECTED_AS, ulong, atomic_ulong) COMPARE(KIND, AS, EXPECTED_AS, double, atomic_double)
#define COMPARE_ALL(KIND)                                                                                                  \
  COMPARE_TYPES(KIND, global, global) COMPARE_TYPES(KIND, global, local) COMPARE_TYPES(KIND, global, private)              \
  COMPARE_TYPES(KIND, local, global) COMPARE_TYPES(KIND, local, local) COMPARE_TYPES(KIND, local, private)
COMPARE_ALL(strong)
COMPARE_ALL(weak)
