// For FarCL's own builtins only; programs never see this file.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define OVERLOAD __attribute__((overloadable))
