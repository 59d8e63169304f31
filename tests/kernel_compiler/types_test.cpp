// Every scalar and vector type: operators, conversions, comparisons, loads and stores, against the host's arithmetic.

#include "kernel_runner.hpp"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace farcl::kernel_compiler::test {
namespace {

template <class T>
const char* name_of();
#define NAME(TYPE, TEXT)        \
  template <>                   \
  const char* name_of<TYPE>() { \
    return TEXT;                \
  }
NAME(std::int8_t, "char")
NAME(std::uint8_t, "uchar")
NAME(std::int16_t, "short")
NAME(std::uint16_t, "ushort")
NAME(std::int32_t, "int")
NAME(std::uint32_t, "uint")
NAME(std::int64_t, "long")
NAME(std::uint64_t, "ulong")
NAME(float, "float")
NAME(double, "double")

constexpr std::size_t kCount = 240; // a multiple of 2, 3, 4, 8 and 16

template <class T>
std::vector<T> samples(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(kCount);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      values[i] = static_cast<T>(static_cast<double>(random() % 200001) - 100000) / 64;
    } else {
      constexpr T kSpecial[] = {0, 1, static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 2};
      values[i] = i % 5 == 0 ? kSpecial[i / 5 % 6] : static_cast<T>(random());
    }
  }
  return values;
}

std::string replace(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

template <class T>
class Types : public ::testing::Test {};
using AllTypes = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                                  std::uint64_t, float, double>;
TYPED_TEST_SUITE(Types, AllTypes);

/// Kernel text for one width: reads a and b as vectors, writes the results of several operators behind each other.
std::string operator_kernel(const std::string& type, int width, bool is_integer) {
  const std::string n = width == 1 ? "" : std::to_string(width);
  const std::string load = width == 1 ? "a[i]" : "vload" + n + "(i, a)";
  const auto store = [&](const std::string& value, int slot) {
    const std::string base = "out + " + std::to_string(slot * kCount);
    return width == 1 ? "(" + base + ")[i] = " + value + ";\n" : "vstore" + n + "((TN)(" + value + "), i, " + base + ");\n";
  };
  std::string text = "kernel void w" + std::to_string(width) +
                     "(global const T* a, global const T* b, global T* out) {\n"
                     "size_t i = get_global_id(0); TN x = " +
                     load + ", y = " + replace(load, "a", "b").replace(0, 0, "") + ";\n";
  text = replace(text, "vlobd", "vload");
  text += store("x + y", 0) + store("x - y", 1) + store("x * y", 2) + store("-x", 3) + store("x / y", 4) + store("min(x, y)", 5) +
          store("max(x, y)", 6);
  if (is_integer) {
    text += store("x % y", 7) + store("x & y", 8) + store("x | y", 9) + store("x ^ y", 10) + store("~x", 11) +
            store("abs_diff_low(x, y)", 12) + store("rotate(x, y)", 13) + store("add_sat(x, y)", 14) + store("sub_sat(x, y)", 15) +
            store("mul_hi(x, y)", 16) + store("hadd(x, y)", 17) + store("clz(x)", 18) + store("popcount(x)", 19) + store("rhadd(x, y)", 20);
  }
  text += "}\n";
  return replace(replace(text, "abs_diff_low(x, y)", "as_TN(abs_diff(x, y))"), "TN", type + n);
}

template <class T>
std::vector<std::function<T(T, T)>> integer_models() {
  __extension__ using W = __int128;
  __extension__ using UnsignedW = unsigned __int128;
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = sizeof(T) * 8;
  const auto saturate = [](W value) {
    return static_cast<T>(std::min<W>(std::max<W>(value, std::numeric_limits<T>::min()), std::numeric_limits<T>::max()));
  };
  return {
      [](T x, T y) { return static_cast<T>(x % y); },
      [](T x, T y) { return static_cast<T>(x & y); },
      [](T x, T y) { return static_cast<T>(x | y); },
      [](T x, T y) { return static_cast<T>(x ^ y); },
      [](T x, T) { return static_cast<T>(~x); },
      [](T x, T y) { return static_cast<T>(x > y ? W(x) - y : W(y) - x); },
      [](T x, T y) {
        const unsigned by = static_cast<unsigned>(y) % kBits;
        return by == 0 ? x : static_cast<T>(static_cast<U>(x) << by | static_cast<U>(x) >> (kBits - by));
      },
      [saturate](T x, T y) { return saturate(W(x) + y); },
      [saturate](T x, T y) { return saturate(W(x) - y); },
      [](T x, T y) { return static_cast<T>(static_cast<W>(static_cast<UnsignedW>(W(x)) * static_cast<UnsignedW>(W(y))) >> kBits); },
      [](T x, T y) { return static_cast<T>((W(x) + y) >> 1); },
      [](T x, T) {
        int count = 0;
        while (count < kBits && (static_cast<U>(x) >> (kBits - 1 - count) & 1) == 0) {
          ++count;
        }
        return static_cast<T>(count);
      },
      [](T x, T) { return static_cast<T>(__builtin_popcountll(static_cast<U>(x))); },
      [](T x, T y) { return static_cast<T>((W(x) + y + 1) >> 1); },
  };
}

/// Unspecified by the language: division by zero and MIN / -1.
template <class T>
bool is_specified(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return y != 0 && !(std::is_signed_v<T> && x == std::numeric_limits<T>::min() && y == static_cast<T>(-1));
  }
  return true;
}

TYPED_TEST(Types, Operators) {
  using T = TypeParam;
  constexpr bool kInteger = std::is_integral_v<T>;
  using A = std::conditional_t<kInteger, std::uint64_t, T>; // wrap-around without undefined behaviour
  std::vector<std::function<T(T, T)>> models = {[](T x, T y) { return static_cast<T>(A(x) + A(y)); },
                                                [](T x, T y) { return static_cast<T>(A(x) - A(y)); },
                                                [](T x, T y) { return static_cast<T>(A(x) * A(y)); },
                                                [](T x, T) { return static_cast<T>(A(0) - A(x)); },
                                                [](T x, T y) { return static_cast<T>(x / y); },
                                                [](T x, T y) { return std::min(x, y); },
                                                [](T x, T y) { return std::max(x, y); }};
  if constexpr (kInteger) {
    for (auto& model : integer_models<T>()) {
      models.push_back(std::move(model));
    }
  }
  std::string source = "typedef " + std::string(name_of<T>()) + " T;\n";
  for (const int width : {1, 2, 3, 4, 8, 16}) {
    source += operator_kernel(name_of<T>(), width, kInteger);
  }
  Program program(source);
  std::vector<T> a = samples<T>(1), b = samples<T>(2);
  if constexpr (!kInteger) {
    for (T& value : b) {
      value = value == 0 ? T(1) : value;
    }
  }
  for (const int width : {1, 2, 3, 4, 8, 16}) {
    std::vector<T> out(kCount * models.size());
    Arguments arguments;
    arguments.buffer(a).buffer(b).buffer(out);
    program.run("w" + std::to_string(width), arguments, {kCount / static_cast<unsigned>(width), 1, 1}, {15, 1, 1});
    for (std::size_t slot = 0; slot < models.size(); ++slot) {
      for (std::size_t i = 0; i < kCount; ++i) {
        const bool divides = slot == 4 || slot == 7;
        if (divides && !is_specified(a[i], b[i])) {
          continue; // must only not trap
        }
        ASSERT_EQ(out[slot * kCount + i], models[slot](a[i], b[i]))
            << name_of<T>() << width << " slot " << slot << " of " << +a[i] << ", " << +b[i];
      }
    }
  }
}

template <class From, class To>
To saturated(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_floating_point_v<From>) {
    const long double wide = std::nearbyint(static_cast<long double>(value));
    return std::isnan(wide)                                                   ? To(0)
           : wide >= static_cast<long double>(std::numeric_limits<To>::max()) ? std::numeric_limits<To>::max()
           : wide <= static_cast<long double>(std::numeric_limits<To>::min()) ? std::numeric_limits<To>::min()
                                                                              : static_cast<To>(wide);
  } else {
    __extension__ const __int128 wide = value;
    return wide > std::numeric_limits<To>::max()   ? std::numeric_limits<To>::max()
           : wide < std::numeric_limits<To>::min() ? std::numeric_limits<To>::min()
                                                   : static_cast<To>(wide);
  }
}

template <class From, class To>
void check_conversion() {
  const std::string from = name_of<From>(), to = name_of<To>();
  const bool saturates = std::is_integral_v<To>;
  const std::string suffix = saturates ? "_sat_rte" : "_rte";
  Program program(replace(replace(replace(R"(
    kernel void convert(global const FROM* a, global TO* plain, global TO* checked) {
      size_t i = get_global_id(0);
      vstore3(convert_TO3SUFFIX(vload3(i, a)), i, checked);
      for (int k = 0; k < 3; ++k) plain[i * 3 + k] = convert_TOSUFFIX(a[i * 3 + k]);
    })",
                                          "SUFFIX", suffix),
                                  "FROM", from),
                          "TO", to));
  std::vector<From> a = samples<From>(3);
  if constexpr (std::is_floating_point_v<From>) {
    const From special[] = {0.5, 1.5, 2.5, -0.5, -1.5, From(1e30), From(-1e30), NAN, 127.5, 255.5, From(4294967295.0)};
    std::copy(std::begin(special), std::end(special), a.begin());
  }
  std::vector<To> plain(kCount), checked(kCount);
  Arguments arguments;
  arguments.buffer(a).buffer(plain).buffer(checked);
  program.run("convert", arguments, {kCount / 3, 1, 1}, {16, 1, 1});
  for (std::size_t i = 0; i < kCount; ++i) {
    const To expected = saturated<From, To>(a[i]);
    if (std::is_floating_point_v<To> && expected != expected) {
      continue;
    }
    ASSERT_EQ(checked[i], expected) << from << " " << +a[i] << " to " << to << "3";
    ASSERT_EQ(plain[i], expected) << from << " " << +a[i] << " to " << to;
  }
}

TYPED_TEST(Types, Conversions) {
  check_conversion<TypeParam, std::int8_t>();
  check_conversion<TypeParam, std::uint16_t>();
  check_conversion<TypeParam, std::int32_t>();
  check_conversion<TypeParam, std::uint32_t>();
  check_conversion<TypeParam, std::int64_t>();
  check_conversion<TypeParam, std::uint64_t>();
  check_conversion<TypeParam, float>();
  check_conversion<TypeParam, double>();
}

TEST(TypesMore, RoundingModes) {
  Program program(R"(kernel void k(global const float* a, global int* out) {
    for (int i = 0; i < 6; ++i) { out[i * 4] = convert_int_rte(a[i]); out[i * 4 + 1] = convert_int_rtz(a[i]);
      out[i * 4 + 2] = convert_int_rtp(a[i]); out[i * 4 + 3] = convert_int_rtn(a[i]); }
  })");
  std::vector<float> a = {0.5F, 1.5F, -0.5F, -1.5F, 2.7F, -2.7F};
  std::vector<int> out(24);
  Arguments arguments;
  arguments.buffer(a).buffer(out);
  program.run("k", arguments, {1, 1, 1}, {1, 1, 1});
  EXPECT_EQ(out, (std::vector<int>{0, 0, 1, 0, 2, 1, 2, 1, 0, 0, 0, -1, -2, -1, -1, -2, 3, 2, 3, 2, -3, -2, -2, -3}));
}

TEST(TypesMore, ShiftsAreModuloTheWidth) {
  Program program(R"(kernel void k(global int* a, global uchar* c, global ulong* l) {
    int s = a[0]; a[1] = 1 << s; a[2] = -8 >> s; c[1] = (uchar2)(c[0], 1).x << (uchar2)(9, 1).x; 
    uchar2 v = (uchar2)(3, 200) << (uchar2)(9, 15); c[2] = v.x; c[3] = v.y; l[0] = l[0] << (s + 64);
  })");
  std::vector<int> a = {33, 0, 0};
  std::vector<std::uint8_t> c = {3, 0, 0, 0};
  std::vector<std::uint64_t> l = {5};
  Arguments arguments;
  arguments.buffer(a).buffer(c).buffer(l);
  program.run("k", arguments, {1, 1, 1}, {1, 1, 1});
  EXPECT_EQ(a[1], 2);
  EXPECT_EQ(a[2], -4);
  EXPECT_EQ(c[2], 6);
  EXPECT_EQ(c[3], 0);
  EXPECT_EQ(l[0], 5ULL << 33);
}

TEST(TypesMore, StructsUnionsVectorsByValue) {
  struct alignas(16) Inner {
    float v[4];
    unsigned char c[4];
  };
  struct Outer {
    int first;
    Inner inner;
    std::int64_t last;
  };
  Program program(R"(
    typedef struct { float4 v; uchar3 c; } Inner;
    typedef struct { int first; Inner inner; long last; } Outer;
    typedef union { uint u; float f; uchar4 b; } Mixed;
    constant int table[3] = {10, 20, 30};
    constant Inner fixed = {(float4)(1, 2, 3, 4), (uchar3)(5, 6, 7)};
    float change(Outer o) { o.inner.v.x = 1000; return o.inner.v.x + o.first; }
    kernel void k(Outer o, uchar3 c, double2 d, char s, ushort8 w, global float* out, constant int* given) {
      Mixed m; m.f = 1.0f;
      int i = get_global_id(0);
      global float* r = out + i * 12;
      r[0] = change(o); r[1] = o.inner.v.x; r[2] = o.inner.c.z; r[3] = o.last; r[4] = c.x + c.y + c.z; r[5] = d.y; r[6] = s;
      r[7] = w.s7; r[8] = m.u == 0x3f800000 && m.b.w == 0x3f; r[9] = table[i] + given[1]; r[10] = fixed.v.w + fixed.c.y; r[11] = sizeof(Outer);
      o.first = 5;
    })");
  static_assert(sizeof(Outer) == 64);
  const KernelInfo& info = program.info("k");
  EXPECT_EQ(info.arguments[0].size_bytes, 64U);
  EXPECT_EQ(info.arguments[1].size_bytes, 4U);
  EXPECT_EQ(info.arguments[2].alignment_bytes, 16U);
  EXPECT_EQ(info.arguments[6].kind, ArgumentKind::kConstant);
  const Outer outer = {7, {{1.5F, 2, 3, 4}, {1, 2, 9, 0}}, 1234567};
  const std::uint8_t c[4] = {1, 2, 3, 0};
  const double d[2] = {0.25, -0.5};
  const std::uint16_t w[8] = {0, 0, 0, 0, 0, 0, 0, 65000};
  std::vector<float> out(36);
  std::vector<int> given = {1, 2};
  Arguments arguments;
  arguments.value(outer).value(c).value(d).value(std::int8_t{-3}).value(w).buffer(out).buffer(given);
  program.run("k", arguments, {3, 1, 1}, {3, 1, 1});
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> expected = {1007, 1.5F, 9, 1234567, 6, -0.5F, -3, 65000, 1, static_cast<float>((i + 1) * 10 + 2), 10, 64};
    EXPECT_EQ(std::vector<float>(out.begin() + i * 12, out.begin() + (i + 1) * 12), expected);
  }
}

TEST(TypesMore, SwizzlesReinterpretationShuffleSelect) {
  Program program(R"(kernel void k(global float* out, global int* flags) {
    float8 v = (float8)(0, 1, 2, 3, 4, 5, 6, 7); float4 a = v.odd, b = v.even; a.xw = b.yz; v.hi = a; v.s01 = v.s76;
    vstore8(v, 0, out);
    uint4 bits = as_uint4((float4)(1, -2, 0.5f, 4)); out[8] = bits.y == 0xc0000000; out[9] = as_float(0x40490fdb);
    vstore4(shuffle(v, (uint4)(7, 0, 3, 3)), 0, out + 10); vstore4(shuffle2(v.lo, v.hi, (uint4)(0, 4, 5, 1)), 0, out + 14);
    int4 less = (float4)(1, 2, 3, 4) < (float4)(2, 2, 2, 5); vstore4(less, 0, flags); flags[4] = any(less); flags[5] = all(less);
    vstore4(select((float4)(1), (float4)(2), less), 0, out + 18); vstore4(bitselect((float4)(0), as_float4((uint4)(~0u)), as_float4((uint4)(0x3f800000))), 0, out + 22);
    bool scalar = 3 < 4; flags[6] = scalar; flags[7] = (1 ? (int2)(5, 6) : (int2)(7, 8)).y; flags[8] = vec_step(float3); flags[9] = isnan((float2)(NAN, 1)).x;
  })");
  std::vector<float> out(26);
  std::vector<int> flags(10);
  Arguments arguments;
  arguments.buffer(out).buffer(flags);
  program.run("k", arguments, {1, 1, 1}, {1, 1, 1});
  // a = odd {1,3,5,7}, b = even {0,2,4,6}: a.xw = {2,4} gives {2,3,5,4}; v.hi = a; v.s01 = {4,5}.
  EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + 8), (std::vector<float>{4, 5, 2, 3, 2, 3, 5, 4}));
  EXPECT_EQ(out[8], 1);
  EXPECT_FLOAT_EQ(out[9], 3.14159274F);
  EXPECT_EQ(std::vector<float>(out.begin() + 10, out.begin() + 18), (std::vector<float>{4, 4, 3, 3, 4, 2, 3, 5}));
  EXPECT_EQ(std::vector<float>(out.begin() + 18, out.begin() + 26), (std::vector<float>{2, 1, 1, 2, 1, 1, 1, 1}));
  EXPECT_EQ(flags, (std::vector<int>{-1, 0, 0, -1, 1, 0, 1, 6, 4, -1}));
}

TEST(TypesMore, HalfLoadsAndStores) {
  Program program(R"(kernel void k(global const float* in, global half* h, global float* out, global double* wide) {
    int i = get_global_id(0);
    vstore_half(in[i], i, h); out[i] = vload_half(i, h);
    vstore_half_rtz(in[i], i, h + 16); out[16 + i] = vload_half(i, h + 16);
    vstore_half(wide[i], i, h + 48); wide[i] = vload_half(i, h + 48);
    if (i == 0) { vstore_half4(vload4(0, in), 0, h + 32); vstore4(vload_half4(0, h + 32), 0, out + 32); vstorea_half3((float3)(1, 2, 3), 1, h + 36); out[36] = vloada_half3(1, h + 36).z; }
  })");
  std::vector<float> in = {0,       1,     -2.5F,    65504,    70000, 1e-7F, 5.9604645e-8F, 1.0009765F,
                           2048.5F, -0.0F, INFINITY, 3.14159F, 0.1F,  1e-9F, 65519,         65520};
  std::vector<std::uint16_t> h(64);
  std::vector<float> out(40);
  std::vector<double> wide(in.begin(), in.end());
  wide[7] = 1.00048828125000001;
  Arguments arguments;
  arguments.buffer(in).buffer(h).buffer(out).buffer(wide);
  program.run("k", arguments, {16, 1, 1}, {16, 1, 1});
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(out[i], static_cast<float>(static_cast<_Float16>(in[i]))) << in[i];
  }
  EXPECT_EQ(out[16 + 14], 65504);
  EXPECT_EQ(out[16 + 11], 3.140625F);
  EXPECT_EQ(std::vector<float>(out.begin() + 32, out.begin() + 37), (std::vector<float>{0, 1, -2.5F, 65504, 3}));
  EXPECT_EQ(wide[11], 3.140625);
}

TEST(TypesMore, AtomicsOfAllWidths) {
  Program program(R"(
    #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
    kernel void k(global int* a, global uint* u, global long* l, global float* f) {
      local int box; local long wide; int i = get_local_id(0);
      if (i == 0) { box = 0; wide = 0; }
      barrier(CLK_LOCAL_MEM_FENCE);
      atomic_add(&a[0], i); atomic_sub(&a[1], i); atomic_inc(&a[2]); atomic_dec(&a[3]); atomic_min(&a[4], -i); atomic_max(&a[5], i);
      atomic_and(&u[0], ~(1u << i)); atomic_or(&u[1], 1u << i); atomic_xor(&u[2], 1u << i); atomic_max(&u[3], 0x80000000u + i);
      atom_add(&l[0], 1L << i); atom_max(&l[1], (long)i << 40); atom_min(&l[2], -((long)i << 40)); atom_or(&l[3], 1L << (i + 32)); atom_inc(&l[4]);
      atom_add(&wide, 1L << 33); atomic_add(&box, 2);
      for (;;) { long old = l[5]; if (atom_cmpxchg(&l[5], old, old + 3) == old) break; }
      barrier(CLK_LOCAL_MEM_FENCE);
      if (i == 0) { a[6] = box; l[6] = wide; f[1] = atomic_xchg(&f[0], 2.5f); }
    })");
  std::vector<int> a(7);
  std::vector<std::uint32_t> u = {~0U, 0, 0, 0};
  std::vector<std::int64_t> l(7);
  std::vector<float> f = {1.5F, 0};
  Arguments arguments;
  arguments.buffer(a).buffer(u).buffer(l).buffer(f);
  program.run("k", arguments, {32, 1, 1}, {16, 1, 1});
  EXPECT_EQ(a, (std::vector<int>{240, -240, 32, -32, -15, 15, 32}));
  EXPECT_EQ(u, (std::vector<std::uint32_t>{0xffff0000U, 0xffffU, 0, 0x8000000fU}));
  EXPECT_EQ(l, (std::vector<std::int64_t>{2 * 0xffff, 15LL << 40, -(15LL << 40), 0xffffLL << 32, 32, 96, 16LL << 33}));
  EXPECT_EQ(f, (std::vector<float>{2.5F, 2.5F}));
}

TEST(TypesMore, AtomicsOfC11) {
  Program program(R"(kernel void k(global atomic_int* a, global atomic_long* l, global int* out) {
      atomic_fetch_add_explicit(a, 3, memory_order_relaxed, memory_scope_work_group);
      atomic_fetch_max_explicit(l, (long)get_global_id(0) << 35, memory_order_relaxed, memory_scope_work_group);
      int expected = 0;
      if (atomic_compare_exchange_strong_explicit(a + 1, &expected, 9, memory_order_relaxed, memory_order_relaxed, memory_scope_work_group)) out[0] += 1; else out[1] = expected;
      atomic_store_explicit(a + 2, 5, memory_order_relaxed, memory_scope_work_group); out[2] = atomic_load_explicit(a + 2, memory_order_relaxed, memory_scope_work_group);
    })",
                  "-cl-std=CL3.0");
  std::vector<int> a(3), out(3);
  std::vector<std::int64_t> l(1);
  Arguments arguments;
  arguments.buffer(a).buffer(l).buffer(out);
  program.run("k", arguments, {10, 1, 1}, {5, 1, 1});
  EXPECT_EQ(a, (std::vector<int>{30, 9, 5}));
  EXPECT_EQ(out, (std::vector<int>{1, 9, 5}));
  EXPECT_EQ(l[0], 9LL << 35);
}

} // namespace
} // namespace farcl::kernel_compiler::test
