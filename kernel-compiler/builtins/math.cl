// Replacements for functions of libclc that miss OpenCL's limits (tests/kernel_compiler/math_test.cpp measures them all).
#include "builtins.h"

HOST double pow_of_host(double, double) __asm("pow");
HOST double tgamma_of_host(double) __asm("tgamma");
HOST double erfc_of_host(double) __asm("erfc");
HOST float fmodf_of_host(float, float) __asm("fmodf");
HOST float remainderf_of_host(float, float) __asm("remainderf");

// --- results below the normal range are lost ---------------------------------------------------------------------------
// exp(x) = exp(x + 64) * exp(-64): x + 64 is exact for the x concerned, and the product rounds once.
#define SCALED_EXP(NAME, INNER, FACTOR)                                                                                    \
  OVERLOAD float INNER(float x);                                                                                           \
  OVERLOAD float NAME(float x) {                                                                                           \
    const bool is_small = x < LIMIT_##NAME;                                                                                \
    return INNER(is_small ? x + SHIFT_##NAME : x) * (is_small ? FACTOR : 1.0f);                                            \
  }                                                                                                                        \
  VECTORS_1(NAME, float, float)
#define LIMIT_exp -80.0f
#define SHIFT_exp 64.0f
#define LIMIT_exp2 -120.0f
#define SHIFT_exp2 64.0f
SCALED_EXP(exp, libclc_exp, 0x1.969d48p-93f)
SCALED_EXP(exp2, libclc_exp2, 0x1p-64f)

OVERLOAD float libclc_erfc(float x);
OVERLOAD float erfc(float x) { return x > 9.0f ? (float)erfc_of_host((double)x) : libclc_erfc(x); }
VECTORS_1(erfc, float, float)

// --- exact by definition, wrong for subnormal divisors ------------------------------------------------------------------
OVERLOAD float fmod(float x, float y) { return fmodf_of_host(x, y); }
VECTORS_2(fmod, float, float, float)
OVERLOAD float remainder(float x, float y) { return remainderf_of_host(x, y); }
VECTORS_2(remainder, float, float, float)

// --- wrong for huge exponents -------------------------------------------------------------------------------------------
OVERLOAD double pow(double x, double y) { return pow_of_host(x, y); }
VECTORS_2(pow, double, double, double)
OVERLOAD double powr(double x, double y) {
  const bool is_invalid = x < 0.0 || isnan(x) || isnan(y) || (y == 0.0 && (x == 0.0 || isinf(x))) || (x == 1.0 && isinf(y));
  // powr(-0, y) is that of +0.
  return is_invalid ? NAN : pow_of_host(fabs(x), y);
}
VECTORS_2(powr, double, double, double)

// --- 175 ulp where 16 are allowed ---------------------------------------------------------------------------------------
OVERLOAD double tgamma(double x) { return tgamma_of_host(x); }
VECTORS_1(tgamma, double, double)
OVERLOAD float tgamma(float x) { return (float)tgamma_of_host((double)x); }
VECTORS_1(tgamma, float, float)

// --- native functions: libclc leaves them to instructions that x86 does not have, one library call per element ------------
#define NATIVE(NAME) OVERLOAD float native_##NAME(float x) { return half_##NAME(x); } VECTORS_1(native_##NAME, float, float)
NATIVE(sin)
NATIVE(cos)
NATIVE(tan)
NATIVE(exp)
NATIVE(exp2)
NATIVE(exp10)
NATIVE(log)
NATIVE(log2)
NATIVE(log10)
OVERLOAD float native_powr(float x, float y) { return half_powr(x, y); }
VECTORS_2(native_powr, float, float, float)
