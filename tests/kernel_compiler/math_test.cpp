// Math functions against the C library in long double, within OpenCL's limits in ulp (full profile).

#include "kernel_runner.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace farcl::kernel_compiler::test {
namespace {

using Wide = long double;

template <class T>
double ulp_error(T got, Wide expected) {
  if (std::isnan(expected)) {
    return std::isnan(got) ? 0 : INFINITY;
  }
  const T rounded = static_cast<T>(expected);
  if (rounded == got) {
    return 0;
  }
  if (std::isnan(got) || std::isinf(got) != std::isinf(rounded)) {
    // The largest number and infinity are neighbours.
    const Wide largest = std::numeric_limits<T>::max();
    const Wide gap = std::ldexp(Wide(1), std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::digits);
    const Wide a = std::isinf(got) ? std::copysign(largest + gap, Wide(got)) : Wide(got);
    return std::isnan(got) ? INFINITY : static_cast<double>(std::fabs(a - expected) / gap);
  }
  int exponent = 0;
  std::frexp(expected, &exponent);
  const int lowest = std::numeric_limits<T>::min_exponent;
  const Wide ulp = std::ldexp(Wide(1), std::max(exponent, lowest) - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(Wide(got) - expected) / ulp);
}

template <class T>
std::vector<T> arguments_near(Wide low, Wide high, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values = {T(0),
                           T(-0.0),
                           T(1),
                           T(-1),
                           T(0.5),
                           T(2),
                           std::numeric_limits<T>::min(),
                           -std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::max(),
                           -std::numeric_limits<T>::max(),
                           T(INFINITY),
                           T(-INFINITY),
                           T(NAN),
                           std::numeric_limits<T>::min() / 8,
                           T(3),
                           T(100),
                           T(-100)};
  while (values.size() < 1024) {
    values.push_back(static_cast<T>(low + (high - low) * static_cast<Wide>(random()) / 18446744073709551616.0L));
    // And some of any magnitude.
    values.push_back(static_cast<T>(
        std::ldexp(static_cast<Wide>(random()) / 9223372036854775808.0L - 1,
                   static_cast<int>(random() % (2 * std::numeric_limits<T>::max_exponent)) - std::numeric_limits<T>::max_exponent)));
  }
  return values;
}

struct Function1 {
  const char* name;
  Wide (*model)(Wide);
  double float_ulp;
  double double_ulp;
  Wide low, high;
};

const Wide kPi = 3.14159265358979323846264338327950288L;
Wide reduced(Wide x, Wide (*function)(Wide)) {
  // sinpi and the like: exact reduction first.
  return std::isfinite(x) ? function(kPi * std::remainder(x, Wide(2))) : NAN;
}
Wide sinpi_model(Wide x) {
  return std::isfinite(x) && std::floor(x) == x ? std::copysign(Wide(0), x) : reduced(x, [](Wide r) { return std::sin(r); });
}
Wide cospi_model(Wide x) {
  return std::floor(x * 2) == x * 2 && std::floor(x) != x ? 0 : reduced(x, [](Wide r) { return std::cos(r); });
}

const Function1 kFunctions[] = {
    {"acos", [](Wide x) { return std::acos(x); }, 4, 4, -1, 1},
    {"acosh", [](Wide x) { return std::acosh(x); }, 4, 4, 1, 50},
    {"asin", [](Wide x) { return std::asin(x); }, 4, 4, -1, 1},
    {"asinh", [](Wide x) { return std::asinh(x); }, 4, 4, -50, 50},
    {"atan", [](Wide x) { return std::atan(x); }, 5, 5, -10, 10},
    {"atanh", [](Wide x) { return std::atanh(x); }, 5, 5, -1, 1},
    {"acospi", [](Wide x) { return std::acos(x) / kPi; }, 5, 5, -1, 1},
    {"asinpi", [](Wide x) { return std::asin(x) / kPi; }, 5, 5, -1, 1},
    {"atanpi", [](Wide x) { return std::atan(x) / kPi; }, 5, 5, -10, 10},
    {"cbrt", [](Wide x) { return std::cbrt(x); }, 2, 2, -1000, 1000},
    {"ceil", [](Wide x) { return std::ceil(x); }, 0, 0, -100, 100},
    {"cos", [](Wide x) { return std::cos(x); }, 4, 4, -100, 100},
    {"cosh", [](Wide x) { return std::cosh(x); }, 4, 4, -80, 80},
    {"cospi", cospi_model, 4, 4, -10, 10},
    {"erf", [](Wide x) { return std::erf(x); }, 16, 16, -4, 4},
    {"erfc", [](Wide x) { return std::erfc(x); }, 16, 16, -4, 10},
    {"exp", [](Wide x) { return std::exp(x); }, 3, 3, -104, 88},
    {"exp2", [](Wide x) { return std::exp2(x); }, 3, 3, -149, 127},
    {"exp10", [](Wide x) { return std::pow(Wide(10), x); }, 3, 3, -45, 38},
    {"expm1", [](Wide x) { return std::expm1(x); }, 3, 3, -5, 88},
    {"fabs", [](Wide x) { return std::fabs(x); }, 0, 0, -10, 10},
    {"floor", [](Wide x) { return std::floor(x); }, 0, 0, -100, 100},
    {"log", [](Wide x) { return std::log(x); }, 3, 3, 0, 10},
    {"log2", [](Wide x) { return std::log2(x); }, 3, 3, 0, 10},
    {"log10", [](Wide x) { return std::log10(x); }, 3, 3, 0, 10},
    {"log1p", [](Wide x) { return std::log1p(x); }, 2, 2, -1, 10},
    {"rint", [](Wide x) { return std::nearbyint(x); }, 0, 0, -100, 100},
    {"round", [](Wide x) { return std::round(x); }, 0, 0, -100, 100},
    {"rsqrt", [](Wide x) { return 1 / std::sqrt(x); }, 2, 2, 0, 100},
    {"sin", [](Wide x) { return std::sin(x); }, 4, 4, -100, 100},
    {"sinh", [](Wide x) { return std::sinh(x); }, 4, 4, -80, 80},
    {"sinpi", sinpi_model, 4, 4, -10, 10},
    {"sqrt", [](Wide x) { return std::sqrt(x); }, 3, 0, 0, 100},
    {"tan", [](Wide x) { return std::tan(x); }, 5, 5, -100, 100},
    {"tanh", [](Wide x) { return std::tanh(x); }, 5, 5, -10, 10},
    {"tgamma", [](Wide x) { return std::tgamma(x); }, 16, 16, -5, 34},
    {"trunc", [](Wide x) { return std::trunc(x); }, 0, 0, -100, 100},
};

template <class T>
void check_all(const char* type, double Function1::* limit) {
  std::string source;
  for (const Function1& function : kFunctions) {
    const std::string name = function.name;
    // As vectors of four and as scalars in a loop: both ways of vectorising.
    source += "kernel void " + name + "_4(global const T* in, global T* out) { size_t i = get_global_id(0); vstore4(" + name +
              "(vload4(i, in)), i, out); }\n";
    source +=
        "kernel void " + name + "_1(global const T* in, global T* out) { size_t i = get_global_id(0); out[i] = " + name + "(in[i]); }\n";
  }
  Program program("typedef " + std::string(type) + " T;\n" + source);
  for (const Function1& function : kFunctions) {
    std::vector<T> in = arguments_near<T>(function.low, function.high, 11);
    for (const int width : {1, 4}) {
      std::vector<T> out(in.size());
      Arguments arguments;
      arguments.buffer(in).buffer(out);
      program.run(std::string(function.name) + "_" + std::to_string(width), arguments, {in.size() / static_cast<unsigned>(width), 1, 1},
                  {64, 1, 1});
      double worst = 0;
      T at = 0, got = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const double error = ulp_error(out[i], function.model(in[i]));
        if (error > worst) {
          worst = error;
          at = in[i];
          got = out[i];
        }
      }
      // Half an ulp of the rounded model is not an error of the function.
      EXPECT_LE(worst, function.*limit + 0.5) << function.name << "(" << type << ") of " << at << " gives " << got;
    }
  }
}

TEST(Math, FunctionsOfOneFloat) { check_all<float>("float", &Function1::float_ulp); }
TEST(Math, FunctionsOfOneDouble) { check_all<double>("double", &Function1::double_ulp); }

struct Function2 {
  const char* name;
  Wide (*model)(Wide, Wide);
  double ulp;
};

const Function2 kFunctions2[] = {
    {"atan2", [](Wide x, Wide y) { return std::atan2(x, y); }, 6},
    {"copysign", [](Wide x, Wide y) { return std::copysign(x, y); }, 0},
    {"fdim", [](Wide x, Wide y) { return std::isnan(x) || std::isnan(y) ? NAN
                                         : x > y                        ? x - y
                                                                        : 0; }, 0.5},
    {"fmax", [](Wide x, Wide y) { return std::fmax(x, y); }, 0},
    {"fmin", [](Wide x, Wide y) { return std::fmin(x, y); }, 0},
    {"fmod", [](Wide x, Wide y) { return std::fmod(x, y); }, 0},
    {"hypot", [](Wide x, Wide y) { return std::hypot(x, y); }, 4},
    {"pow", [](Wide x, Wide y) { return std::pow(x, y); }, 16},
    {"remainder", [](Wide x, Wide y) { return std::remainder(x, y); }, 0},
};

template <class T>
void check_pairs(const char* type) {
  std::string source;
  for (const Function2& function : kFunctions2) {
    source += "kernel void " + std::string(function.name) +
              "_k(global const T* a, global const T* b, global T* out) { size_t i = get_global_id(0); out[i] = " + function.name +
              "(a[i], b[i]); }\n";
  }
  Program program("typedef " + std::string(type) + " T;\n" + source);
  std::vector<T> a = arguments_near<T>(-20, 20, 21), b = arguments_near<T>(-20, 20, 22);
  std::mt19937 random(5);
  std::shuffle(b.begin(), b.end(), random);
  for (const Function2& function : kFunctions2) {
    std::vector<T> out(a.size());
    Arguments arguments;
    arguments.buffer(a).buffer(b).buffer(out);
    program.run(std::string(function.name) + "_k", arguments, {a.size(), 1, 1}, {64, 1, 1});
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_LE(ulp_error(out[i], function.model(a[i], b[i])), function.ulp + 0.5)
          << function.name << "(" << type << ") of " << a[i] << ", " << b[i] << " gives " << out[i];
    }
  }
}

TEST(Math, FunctionsOfTwoFloats) { check_pairs<float>("float"); }
TEST(Math, FunctionsOfTwoDoubles) { check_pairs<double>("double"); }

TEST(Math, RemquoOfVectorsAndSubnormals) {
  Program program(R"(
    kernel void one(global const float* a, global const float* b, global float* r, global int* q) { size_t i = get_global_id(0); r[i] = remquo(a[i], b[i], q + i); }
    kernel void two(global const float2* a, global const float2* b, global float2* r, global int2* q) { size_t i = get_global_id(0); r[i] = remquo(a[i], b[i], q + i); }
    kernel void four(global const float4* a, global const float4* b, global float4* r, global int4* q) { size_t i = get_global_id(0); int4 bits; r[i] = remquo(a[i], b[i], &bits); q[i] = bits; }
    kernel void sixteen(global const float* a, global const float* b, global float* r, global int* q) {
      size_t i = get_global_id(0); local int16 bits; vstore16(remquo(vload16(i, a), vload16(i, b), &bits), i, r); vstore16(bits, i, q); }
    kernel void three(global const float* a, global const float* b, global float* r, global int* q) {
      size_t i = get_global_id(0); int3 bits; vstore3(remquo(vload3(i, a), vload3(i, b), &bits), i, r); vstore3(bits, i, q); })");
  std::vector<float> a = {
      0x1.13e822p+74F, 10, -10, 0x1p127F, 7.5F, -7.5F, 0x1p-149F, 100.25F, 1, 3, 5, -9, 1e30F, 4, 0, 12, 8, 9, 10, 11, 12, 13, 14, 15,
      0x1.13e822p+74F, 10, -10, 0x1p127F, 7.5F, -7.5F, 0x1p-149F, 100.25F, 1, 3, 5, -9, 1e30F, 4, 0, 12, 8, 9, 10, 11, 12, 13, 14, 15};
  std::vector<float> b(a.size());
  const float divisors[] = {0x1.d739e8p-128F, 3, 3, 0x1p-149F, 5, 5, 0x1.8p-126F, -0.5F, INFINITY, 2, 2, 2};
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = divisors[i % std::size(divisors)];
  }
  const std::pair<const char*, std::size_t> kernels[] = {{"one", 1}, {"two", 2}, {"three", 3}, {"four", 4}, {"sixteen", 16}};
  for (const auto& [name, width] : kernels) {
    std::vector<float> r(a.size());
    std::vector<int> q(a.size());
    Arguments arguments;
    arguments.buffer(a).buffer(b).buffer(r).buffer(q);
    program.run(name, arguments, {a.size() / width, 1, 1}, {1, 1, 1});
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(r[i], std::remainder(a[i], b[i])) << name << " of " << a[i] << ", " << b[i];
      int bits = 0; // the host's has three of the quotient's bits, and its sign
      (void)std::remquo(a[i], b[i], &bits);
      EXPECT_EQ(std::abs(q[i]) & 7, std::abs(bits) & 7) << name << " of " << a[i] << ", " << b[i];
      EXPECT_LE(std::abs(q[i]), 127);
    }
  }
}

TEST(Math, LdexpOfEveryKind) {
  Program program(R"(
    kernel void f(global const float* x, global const int* n, global float* o, global float* o4) {
      size_t i = get_global_id(0); o[i] = ldexp(x[i], n[i]); vstore4(ldexp((float4)(x[i]), n[i]), i, o4); }
    kernel void d(global const double* x, global const int* n, global double* o, global double* o4) {
      size_t i = get_global_id(0); o[i] = ldexp(x[i], n[i]); vstore4(ldexp((double4)(x[i]), n[i]), i, o4); })");
  const std::vector<float> values = {1.5F, -0x1.fffffcp-127F, 0x1p-149F, NAN, INFINITY, -INFINITY, 0, -0.0F, 0x1.fffffep127F};
  std::vector<int> n;
  std::vector<float> x;
  for (const float value : values) {
    for (const int exponent : {0, 1, -1, 127, -150, 300, -300, 2000, -2000, 2147483647, -2147483647 - 1}) {
      x.push_back(value);
      n.push_back(exponent);
    }
  }
  std::vector<float> o(x.size()), o4(4 * x.size());
  std::vector<double> wide(x.begin(), x.end()), od(x.size()), od4(4 * x.size());
  Arguments floats, doubles;
  floats.buffer(x).buffer(n).buffer(o).buffer(o4);
  doubles.buffer(wide).buffer(n).buffer(od).buffer(od4);
  program.run("f", floats, {x.size(), 1, 1}, {1, 1, 1});
  program.run("d", doubles, {x.size(), 1, 1}, {1, 1, 1});
  const auto same = [](auto a, auto b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); };
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(same(std::ldexp(x[i], n[i]), o[i]) && same(o[i], o4[4 * i + 3])) << x[i] << ", " << n[i] << ": " << o[i];
    EXPECT_TRUE(same(std::ldexp(wide[i], n[i]), od[i]) && same(od[i], od4[4 * i + 3])) << wide[i] << ", " << n[i] << ": " << od[i];
  }
}

TEST(Math, OthersOnce) {
  Program program(R"(kernel void k(global float* o, global int* n, global double* d) {
    float f; int e;
    o[0] = fma(2.0f, 3.0f, 4.0f); o[1] = mad(2.0f, 3.0f, 4.0f); o[2] = fract(3.75f, &f); o[3] = f; o[4] = frexp(10.0f, &e); n[0] = e;
    o[5] = ldexp(1.5f, 4); o[6] = modf(-2.5f, &f); o[7] = f; o[8] = sincos(0.5f, &f); o[9] = f; o[10] = lgamma_r(-0.5f, &e); n[1] = e;
    o[11] = remquo(10.0f, 3.0f, &e); n[2] = e; n[3] = ilogb(40.0f); o[12] = logb(40.0f); o[13] = nextafter(1.0f, 2.0f); o[14] = pown(2.0f, -3); o[15] = rootn(27.0f, 3);
    o[16] = powr(2.0f, 0.5f); o[17] = maxmag(-3.0f, 2.0f); o[18] = minmag(-3.0f, 2.0f); o[19] = nan(5u);
    o[20] = dot((float4)(1, 2, 3, 4), (float4)(1)); o[21] = length((float2)(3, 4)); o[22] = distance((float3)(1, 2, 3), (float3)(1, 2, 5)); o[23] = cross((float3)(1, 0, 0), (float3)(0, 1, 0)).z;
    o[24] = normalize((float2)(0, 5)).y; o[25] = mix(1.0f, 3.0f, 0.25f); o[26] = smoothstep(0.0f, 1.0f, 0.5f); o[27] = step(1.0f, 0.5f); o[28] = sign(-3.0f); o[29] = clamp(5.0f, 0.0f, 1.0f);
    o[30] = degrees(M_PI_F); o[31] = radians(180.0f); o[32] = native_sin(0.5f); o[33] = half_exp(1.0f); o[34] = native_divide(1.0f, 4.0f);
    d[0] = fma(2.0, 3.0, 4.0); d[1] = pown(3.0, 4); d[2] = rootn(16.0, 4); d[3] = powr(2.0, 10.0); d[4] = sinh(800.0); d[5] = pow(2.0, 1e300); d[6] = lgamma(10.0);
    n[4] = mad24(3, 4, 5); n[5] = mul24(6, 7); n[6] = mad_hi(1 << 20, 1 << 20, 3); n[7] = upsample((short)1, (ushort)2); n[8] = ctz_of(8); n[9] = isfinite(INFINITY) | isnormal(1e-40f) | signbit(-1.0f) * 4; n[10] = islessgreater(1.0f, 2.0f);
    n[11] = clamp(5, 7, 9); n[12] = mad_sat(1 << 30, 4, 5);
  })" + std::string(),
                  "-Dctz_of(x)=3");
  std::vector<float> o(35);
  std::vector<int> n(13);
  std::vector<double> d(7);
  Arguments arguments;
  arguments.buffer(o).buffer(n).buffer(d);
  program.run("k", arguments, {1, 1, 1}, {1, 1, 1});
  const float expected[] = {10,
                            10,
                            0.75F,
                            3,
                            0.625F,
                            24,
                            -0.5F,
                            -2,
                            std::sin(0.5F),
                            std::cos(0.5F),
                            std::lgamma(-0.5F),
                            1,
                            5,
                            std::nextafter(1.0F, 2.0F),
                            0.125F,
                            3,
                            std::sqrt(2.0F),
                            -3,
                            2,
                            NAN,
                            10,
                            5,
                            2,
                            1,
                            1,
                            1.5F,
                            0.5F,
                            0,
                            -1,
                            1,
                            180,
                            static_cast<float>(kPi),
                            std::sin(0.5F),
                            std::exp(1.0F),
                            0.25F};
  for (std::size_t i = 0; i < o.size(); ++i) {
    EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(o[i]) : std::fabs(o[i] - expected[i]) <= std::fabs(expected[i]) * 1e-5F)
        << i << ": " << o[i];
  }
  EXPECT_EQ(n, (std::vector<int>{4, -1, 3, 5, 17, 42, 259, 65538, 3, 4, 1, 7, 2147483647}));
  const double wide[] = {10, 81, 2, 1024, INFINITY, INFINITY, std::lgamma(10.0)};
  for (std::size_t i = 0; i < d.size(); ++i) {
    EXPECT_TRUE(std::isinf(wide[i]) ? d[i] == wide[i] : std::fabs(d[i] - wide[i]) <= 1e-13 * wide[i]) << i << ": " << d[i];
  }
}

} // namespace
} // namespace farcl::kernel_compiler::test
