// Replacements for functions of libclc that miss OpenCL's limits (tests/kernel_compiler/math_test.cpp measures them all).
#include "builtins.h"

HOST double pow_of_host(double, double) __asm("pow");
HOST double tgamma_of_host(double) __asm("tgamma");
HOST double erfc_of_host(double) __asm("erfc");
HOST float fmodf_of_host(float, float) __asm("fmodf");
HOST float remainderf_of_host(float, float) __asm("remainderf");
HOST double fmod_of_host(double, double) __asm("fmod");
HOST double ldexp_of_host(double, int) __asm("ldexp");

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

// The remainder and the last seven bits of the quotient, exact in double: x modulo 128 y leaves a quotient below 128.
static float remquo_of_1(float x, float y, __private int* quotient) {
  *quotient = 0;
  if (isnan(x) || isnan(y) || isinf(x) || y == 0.0f) {
    return NAN;
  }
  if (isinf(y) || x == 0.0f) {
    return x;
  }
  const double divisor = fabs((double)y);
  const double rest = fmod_of_host(fabs((double)x), 128.0 * divisor);
  int count = (int)(rest / divisor);
  double remainder = rest - count * divisor;
  if (remainder < 0.0) {
    --count;
    remainder += divisor;
  }
  if (2.0 * remainder > divisor || (2.0 * remainder == divisor && (count & 1) != 0)) {
    ++count;
    remainder -= divisor;
  }
  *quotient = signbit(x) != signbit(y) ? -(count & 127) : count & 127;
  return signbit(x) ? (float)-remainder : (float)remainder;
}
typedef float float1;
typedef int int1;
#define REMQUO_OF(N, HALF)                                                                                                 \
  static float##N remquo_of_##N(float##N x, float##N y, __private int##N* quotient) {                                      \
    int##HALF low, high;                                                                                                   \
    const float##HALF remainder = remquo_of_##HALF(x.lo, y.lo, &low);                                                      \
    const float##N all = (float##N)(remainder, remquo_of_##HALF(x.hi, y.hi, &high));                                       \
    *quotient = (int##N)(low, high);                                                                                       \
    return all;                                                                                                            \
  }
REMQUO_OF(2, 1)
REMQUO_OF(4, 2)
REMQUO_OF(8, 4)
REMQUO_OF(16, 8)
static float3 remquo_of_3(float3 x, float3 y, __private int3* quotient) {
  int4 bits;
  const float4 remainder = remquo_of_4((float4)(x, 1.0f), (float4)(y, 1.0f), &bits);
  *quotient = bits.s012;
  return remainder.s012;
}
#define REMQUO_INTO(SPACE, TYPE, BITS, N)                                                                                  \
  OVERLOAD TYPE remquo(TYPE x, TYPE y, SPACE BITS* quotient) {                                                             \
    BITS bits;                                                                                                             \
    const TYPE remainder = remquo_of_##N(x, y, &bits);                                                                     \
    *quotient = bits;                                                                                                      \
    return remainder;                                                                                                      \
  }
#define REMQUO(SPACE)                                                                                                      \
  REMQUO_INTO(SPACE, float, int, 1)                                                                                        \
  REMQUO_INTO(SPACE, float2, int2, 2)                                                                                      \
  REMQUO_INTO(SPACE, float3, int3, 3)                                                                                      \
  REMQUO_INTO(SPACE, float4, int4, 4)                                                                                      \
  REMQUO_INTO(SPACE, float8, int8, 8)                                                                                      \
  REMQUO_INTO(SPACE, float16, int16, 16)
REMQUO(__private)
REMQUO(__local)
REMQUO(__global)

// --- loses subnormal arguments, makes infinities of NaNs; in double the product is exact and rounds once ----------------
OVERLOAD float ldexp(float x, int n) {
  const int exponent = clamp(n, -300, 300);
  return (float)((double)x * as_double((long)(exponent + 1023) << 52));
}
VECTORS_2(ldexp, float, float, int)
OVERLOAD double ldexp(double x, int n) { return ldexp_of_host(x, n); }
VECTORS_2(ldexp, double, double, int)
OVERLOAD double2 ldexp(double2 x, int n) { return ldexp(x, (int2)n); }
OVERLOAD double3 ldexp(double3 x, int n) { return ldexp(x, (int3)n); }
OVERLOAD double4 ldexp(double4 x, int n) { return ldexp(x, (int4)n); }
OVERLOAD double8 ldexp(double8 x, int n) { return ldexp(x, (int8)n); }
OVERLOAD double16 ldexp(double16 x, int n) { return ldexp(x, (int16)n); }
OVERLOAD float2 ldexp(float2 x, int n) { return ldexp(x, (int2)n); }
OVERLOAD float3 ldexp(float3 x, int n) { return ldexp(x, (int3)n); }
OVERLOAD float4 ldexp(float4 x, int n) { return ldexp(x, (int4)n); }
OVERLOAD float8 ldexp(float8 x, int n) { return ldexp(x, (int8)n); }
OVERLOAD float16 ldexp(float16 x, int n) { return ldexp(x, (int16)n); }

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
