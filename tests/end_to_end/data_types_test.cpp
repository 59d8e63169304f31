// Values of every type go to the device and come back right: as buffers, as arguments by value, as vectors.
#include "support/cl_fixture.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace farcl::end_to_end {
namespace {

class DataTypes : public ClTest {
protected:
  // b[i] = a[i] + argument for one scalar type, whose name in OpenCL C is `name`.
  template <class T>
  void check_scalar(const std::string& name, T argument) {
    SCOPED_TRACE(name);
    cl::Program program = build("__kernel void add(__global const " + name + " *a, __global " + name + " *b, " + name +
                                " k) { size_t i = get_global_id(0); b[i] = a[i] + k; }");
    std::vector<T> values;
    for (int i = 0; i < 1000; ++i) {
      values.push_back(static_cast<T>(i * 3 - 700));
    }
    const cl::Buffer a = upload(values);
    const cl::Buffer b(context, CL_MEM_WRITE_ONLY, values.size() * sizeof(T));
    cl::Kernel kernel(program, "add");
    kernel.setArg(0, a);
    kernel.setArg(1, b);
    kernel.setArg(2, argument);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(values.size()));
    std::vector<T> expected;
    for (T value : values) {
      expected.push_back(static_cast<T>(value + argument));
    }
    EXPECT_EQ(download<T>(b, values.size()), expected);
  }
};

TEST_F(DataTypes, IntegersOfEverySize) {
  check_scalar<cl_char>("char", -7);
  check_scalar<cl_uchar>("uchar", 250);
  check_scalar<cl_short>("short", -1234);
  check_scalar<cl_ushort>("ushort", 65000);
  check_scalar<cl_int>("int", std::numeric_limits<cl_int>::min() / 2);
  check_scalar<cl_uint>("uint", 4000000000U);
  check_scalar<cl_long>("long", -(cl_long{1} << 60));
  check_scalar<cl_ulong>("ulong", ~cl_ulong{0} - 5);
}

TEST_F(DataTypes, FloatAndDouble) {
  check_scalar<cl_float>("float", 0.125F);
  if (device.getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>() != 0) {
    check_scalar<cl_double>("double", 1e-3);
  }
}

TEST_F(DataTypes, VectorsAsArgumentsAndInBuffers) {
  cl::Program program = build(R"(
    __kernel void mix_up(__global float4 *out, float4 f, int8 i, uchar16 c, short2 s, long3 l) {
      out[0] = f.wzyx;
      out[1] = (float4)(i.s0, i.s7, c.s0, c.sf);
      out[2] = (float4)(s.x, s.y, l.x, l.z);
    })");
  cl::Kernel kernel(program, "mix_up");
  const cl::Buffer out(context, CL_MEM_WRITE_ONLY, 48);
  const cl_float4 f = {{1, 2, 3, 4}};
  cl_int8 i;
  cl_uchar16 c;
  for (int k = 0; k < 16; ++k) {
    i.s[k / 2] = k / 2 + 10;
    c.s[k] = static_cast<cl_uchar>(200 + k);
  }
  kernel.setArg(0, out);
  kernel.setArg(1, f);
  kernel.setArg(2, i);
  kernel.setArg(3, c);
  kernel.setArg(4, cl_short2{{-5, 6}});
  kernel.setArg(5, cl_long3{{100, 200, 300}});
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
  EXPECT_EQ(download<float>(out, 12), (std::vector<float>{4, 3, 2, 1, 10, 17, 200, 215, -5, 6, 100, 300}));
}

TEST_F(DataTypes, StructuresByValueAndInBuffers) {
  struct Item {
    cl_char tag;
    cl_int number;
    cl_float parts[3];
    cl_long wide;
  };
  cl::Program program = build(R"(
    typedef struct { char tag; int number; float parts[3]; long wide; } Item;
    __kernel void twice(__global Item *items, Item extra) {
      size_t i = get_global_id(0);
      items[i].tag += extra.tag;
      items[i].number *= 2;
      items[i].parts[2] += extra.parts[1];
      items[i].wide -= extra.wide;
    })");
  std::vector<Item> items(100);
  for (int i = 0; i < 100; ++i) {
    items[static_cast<std::size_t>(i)] = {static_cast<cl_char>(i), i * 10, {0, 0, static_cast<float>(i)}, i};
  }
  cl::Buffer buffer = upload(items);
  cl::Kernel kernel(program, "twice");
  kernel.setArg(0, buffer);
  kernel.setArg(1, Item{3, 0, {0, 0.5F, 0}, 1000000000000});
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(items.size()));
  const std::vector<Item> got = download<Item>(buffer, items.size());
  for (int i = 0; i < 100; ++i) {
    const Item& item = got[static_cast<std::size_t>(i)];
    ASSERT_EQ(item.tag, i + 3);
    ASSERT_EQ(item.number, i * 20);
    ASSERT_EQ(item.parts[2], static_cast<float>(i) + 0.5F);
    ASSERT_EQ(item.wide, i - 1000000000000);
  }
}

TEST_F(DataTypes, ThreeDimensionsOffsetsAndLocalSizes) {
  cl::Program program = build(R"(
    __kernel void where(__global int *out, int width, int height) {
      int x = get_global_id(0) - get_global_offset(0), y = get_global_id(1), z = get_global_id(2);
      out[(z * height + y) * width + x] = get_group_id(0) + 10 * get_local_id(1) + 100 * get_local_size(2) + 1000 * get_global_id(0)
                                        + 1000000 * get_num_groups(0) + 10000000 * get_work_dim();
    })");
  constexpr int kWidth = 12, kHeight = 6, kDepth = 4, kOffset = 3;
  const cl::Buffer out(context, CL_MEM_WRITE_ONLY, kWidth * kHeight * kDepth * 4);
  cl::Kernel kernel(program, "where");
  kernel.setArg(0, out);
  kernel.setArg(1, kWidth);
  kernel.setArg(2, kHeight);
  queue.enqueueNDRangeKernel(kernel, cl::NDRange(kOffset, 0, 0), cl::NDRange(kWidth, kHeight, kDepth), cl::NDRange(4, 3, 2));
  const std::vector<int> got = download<int>(out, kWidth * kHeight * kDepth);
  for (int z = 0; z < kDepth; ++z) {
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        ASSERT_EQ(got[static_cast<std::size_t>((z * kHeight + y) * kWidth + x)],
                  x / 4 + 10 * (y % 3) + 100 * 2 + 1000 * (x + kOffset) + 1000000 * (kWidth / 4) + 10000000 * 3)
            << x << " " << y << " " << z;
      }
    }
  }
}

TEST_F(DataTypes, AProgramWithOptionsAndSeveralKernels) {
  cl::Program program = build("__kernel void a(__global int *x) { x[0] = FIRST; } __kernel void b(__global int *x) { x[1] = SECOND + 1; }",
                              "-DFIRST=42 -D SECOND=7 -cl-std=CL1.2 -cl-fast-relaxed-math");
  cl::Buffer buffer = upload(std::vector<int>{0, 0});
  for (const char* name : {"a", "b"}) {
    cl::Kernel kernel(program, name);
    kernel.setArg(0, buffer);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
  }
  EXPECT_EQ(download<int>(buffer, 2), (std::vector<int>{42, 8}));
}

TEST_F(DataTypes, DivisionByZeroCompletes) {
  cl::Program program = build(R"(
    __kernel void divide(__global int *x, __global long *y, int zero, int minus_one) {
      int i = get_global_id(0);
      x[i] = x[i] / (i % 2 ? zero : 3) + x[i] % (i % 4 == 1 ? zero : 5);
      y[i] = y[i] / minus_one + y[i] % (long)zero;
      x[i + 64] = i;
    })");
  cl::Buffer x = upload(std::vector<int>(128, std::numeric_limits<int>::min()));
  cl::Buffer y = upload(std::vector<cl_long>(64, std::numeric_limits<cl_long>::min()));
  cl::Kernel kernel(program, "divide");
  kernel.setArg(0, x);
  kernel.setArg(1, y);
  kernel.setArg(2, 0);
  kernel.setArg(3, -1);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64));
  std::vector<int> expected(64);
  std::iota(expected.begin(), expected.end(), 0);
  std::vector<int> got = download<int>(x, 128);
  got.erase(got.begin(), got.begin() + 64);
  EXPECT_EQ(got, expected);
}

} // namespace
} // namespace farcl::end_to_end
