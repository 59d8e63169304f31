// For FarCL's own builtins only; programs never see this file.
#define OVERLOAD __attribute__((overloadable))
// Functions of the host's C library that compiled kernels may call (src/host_functions.def).
#define HOST __attribute__((const))

// The vector forms of a function, element by element; OpenCL C's scalar form must exist.
#define VECTORS_1(NAME, R, A)                                                       \
  OVERLOAD R##2 NAME(A##2 x) { return (R##2)(NAME(x.s0), NAME(x.s1)); }             \
  OVERLOAD R##3 NAME(A##3 x) { return (R##3)(NAME(x.s0), NAME(x.s1), NAME(x.s2)); } \
  OVERLOAD R##4 NAME(A##4 x) { return (R##4)(NAME(x.lo), NAME(x.hi)); }             \
  OVERLOAD R##8 NAME(A##8 x) { return (R##8)(NAME(x.lo), NAME(x.hi)); }             \
  OVERLOAD R##16 NAME(A##16 x) { return (R##16)(NAME(x.lo), NAME(x.hi)); }
#define VECTORS_2(NAME, R, A, B)                                                                              \
  OVERLOAD R##2 NAME(A##2 x, B##2 y) { return (R##2)(NAME(x.s0, y.s0), NAME(x.s1, y.s1)); }                   \
  OVERLOAD R##3 NAME(A##3 x, B##3 y) { return (R##3)(NAME(x.s0, y.s0), NAME(x.s1, y.s1), NAME(x.s2, y.s2)); } \
  OVERLOAD R##4 NAME(A##4 x, B##4 y) { return (R##4)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }                   \
  OVERLOAD R##8 NAME(A##8 x, B##8 y) { return (R##8)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }                   \
  OVERLOAD R##16 NAME(A##16 x, B##16 y) { return (R##16)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }
