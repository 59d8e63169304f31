// Whole kernels: built by the service, run here, compared with the host.

#include "kernel_runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

namespace farcl::kernel_compiler::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Kernels, AddsVectors) {
  Program program("kernel void add(global const float* a, global const float* b, global float* c) {"
                  "  size_t i = get_global_id(0); c[i] = a[i] + b[i]; }");
  std::vector<float> a(1000), b(1000), c(1000);
  std::iota(a.begin(), a.end(), 0.0F);
  std::iota(b.begin(), b.end(), 5.0F);
  Arguments arguments;
  arguments.buffer(a).buffer(b).buffer(c);
  program.run("add", arguments, {1000, 1, 1}, {64, 1, 1});
  for (std::size_t i = 0; i < c.size(); ++i) {
    EXPECT_EQ(c[i], a[i] + b[i]);
  }
}

TEST(Kernels, TellsWorkItemsWhereTheyAre) {
  Program program(R"(
    kernel void where(global ulong* out, uint stride) {
      size_t at = (get_global_id(2) - get_global_offset(2)) * 24 + (get_global_id(1) - get_global_offset(1)) * 6 + get_global_id(0) - get_global_offset(0);
      global ulong* o = out + at * stride;
      for (uint d = 0; d < 4; ++d) {
        o[d * 7] = get_global_id(d); o[d * 7 + 1] = get_local_id(d); o[d * 7 + 2] = get_group_id(d);
        o[d * 7 + 3] = get_local_size(d); o[d * 7 + 4] = get_global_size(d); o[d * 7 + 5] = get_num_groups(d);
        o[d * 7 + 6] = get_global_offset(d);
      }
      o[28] = get_work_dim();
      o[29] = get_global_linear_id(); o[30] = get_local_linear_id(); o[31] = get_enqueued_local_size(0);
    })",
                  "-cl-std=CL3.0");
  const Size global = {6, 4, 3}, local = {4, 2, 1}, offset = {10, 20, 30};
  std::vector<std::uint64_t> out(6 * 4 * 3 * 32, ~0ULL);
  Arguments arguments;
  arguments.buffer(out).value(std::uint32_t{32});
  program.run("where", arguments, global, local, offset);
  for (std::uint64_t z = 0; z < 3; ++z) {
    for (std::uint64_t y = 0; y < 4; ++y) {
      for (std::uint64_t x = 0; x < 6; ++x) {
        const std::uint64_t* o = &out[(z * 24 + y * 6 + x) * 32];
        const Size id = {x, y, z};
        Size actual{};
        for (int d = 0; d < 3; ++d) {
          const std::uint64_t group = id[d] / local[d];
          actual[d] = std::min(local[d], global[d] - group * local[d]);
          const std::vector<std::uint64_t> expected = {
              id[d] + offset[d], id[d] % local[d], group, actual[d], global[d], (global[d] + local[d] - 1) / local[d], offset[d]};
          EXPECT_EQ(std::vector<std::uint64_t>(o + d * 7, o + d * 7 + 7), expected);
        }
        EXPECT_THAT(std::vector<std::uint64_t>(o + 21, o + 28), ElementsAre(0, 0, 0, 1, 1, 1, 0));
        EXPECT_EQ(o[28], 3U);
        EXPECT_EQ(o[29], (z * 4 + y) * 6 + x);
        EXPECT_EQ(o[30], ((z % local[2]) * actual[1] + y % local[1]) * actual[0] + x % local[0]);
        EXPECT_EQ(o[31], 4U);
      }
    }
  }
}

TEST(Kernels, CopiesConstantTablesToPrivateArrays) {
  Program program(R"(
    constant int given[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    typedef struct { int a[6]; float b; } Big;
    kernel void k(global int* out, global Big* big) {
      int mine[8] = {10, 20, 30, 40, 50, 60, 70, 80};
      Big one = {{1, 2, 3, 4, 5, 6}, 2.5f};
      Big two = one;
      two.a[get_global_id(0)] += given[get_global_id(0)];
      big[get_global_id(0)] = two;
      mine[out[get_global_id(0)] & 7] = 99;
      int sum = 0;
      for (int i = 0; i < 8; ++i) sum += mine[i] * given[(i + out[get_global_id(0)]) & 7];
      out[get_global_id(0)] = sum;
    })");
  struct Big {
    int a[6];
    float b;
  };
  std::vector<int> out = {0, 3, 5, 6};
  const std::vector<int> first = out;
  std::vector<Big> big(4);
  Arguments arguments;
  arguments.buffer(out).buffer(big);
  program.run("k", arguments, {4, 1, 1}, {4, 1, 1});
  for (int i = 0; i < 4; ++i) {
    int sum = 0;
    for (int k = 0; k < 8; ++k) {
      sum += ((first[i] & 7) == k ? 99 : (k + 1) * 10) * (((k + first[i]) & 7) + 1);
    }
    EXPECT_EQ(out[i], sum);
    EXPECT_EQ(big[i].a[i], 2 * (i + 1));
    EXPECT_EQ(big[i].b, 2.5F);
  }
}

TEST(Kernels, DefinesTheMacrosOfTheDevice) {
  const char* source = R"(
    #if __OPENCL_VERSION__ != 300 || __OPENCL_C_VERSION__ != WANTED || !defined(__ENDIAN_LITTLE__) || defined(__IMAGE_SUPPORT__)
    #error basic macros
    #endif
    #if !defined(cl_khr_fp64) || !defined(cl_khr_byte_addressable_store) || !defined(cl_khr_global_int32_base_atomics) || \
        !defined(cl_khr_local_int32_extended_atomics) || !defined(cl_khr_int64_base_atomics) || defined(cl_khr_fp16) || defined(cl_khr_3d_image_writes)
    #error extension macros
    #endif
    #if defined(__opencl_c_images) || defined(__opencl_c_pipes) || defined(__opencl_c_device_enqueue) || defined(__opencl_c_subgroups)
    #error feature macros
    #endif
    kernel void k(global int* a) { *a = 1; })";
  const std::pair<const char*, const char*> versions[] = {
      {"", "120"}, {"-cl-std=CL1.0", "100"}, {"-cl-std=CL1.1", "110"}, {"-cl-std=CL1.2", "120"}, {"-cl-std=CL3.0", "300"}};
  for (const auto& [option, wanted] : versions) {
    const CompileReply reply = build(source, std::string(option) + " -DWANTED=" + wanted);
    EXPECT_EQ(reply.data.status, CompileStatus::kOk) << option << reply.data.log;
  }
}

TEST(Kernels, SaysWhereAnErrorIs) {
  const CompileReply reply = build("kernel void k(global int* a) {\n  a[0] = nonsense;\n}\n");
  EXPECT_EQ(reply.data.status, CompileStatus::kBuildFailure);
  EXPECT_THAT(reply.data.log, HasSubstr("source.cl:2:10: error: use of undeclared identifier 'nonsense'"));
}

} // namespace
} // namespace farcl::kernel_compiler::test
