// RUN: farcl-kc --compile %s --emit-llvm %t.ll && FileCheck %s < %t.ll
// Work-items become lanes: through a branch, with the index as int, and with math functions inlined.

// CHECK-LABEL: define {{.*}}@farcl_kernel_saxpy(
// CHECK: call <{{[0-9]+}} x float> @llvm.fmuladd
kernel void saxpy(global const float* x, global float* y, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}

// CHECK-LABEL: define {{.*}}@farcl_kernel_exponential(
// CHECK: fmul <{{[0-9]+}} x float>
kernel void exponential(global const float* x, global float* y) {
  size_t i = get_global_id(0);
  y[i] = exp(x[i]);
}
