#include "kernel_runner.hpp"

#include <gtest/gtest.h>

namespace farcl::kernel_compiler::test {
namespace {

std::string print(const std::string& statement, const std::string& options = "") {
  Program program("struct S { int a; };\nkernel void k(global int* data, float f) {\n" + statement + "\n}\n", options);
  EXPECT_TRUE(program.info("k").uses_printf);
  std::vector<int> data = {7, -8, 9, 0};
  Arguments arguments;
  arguments.buffer(data).value(2.5F);
  program.run("k", arguments, {1, 1, 1}, {1, 1, 1});
  return program.printed();
}

TEST(Printf, FormatsNumbers) {
  EXPECT_EQ(print(R"(printf("%d|%5d|%-5d|%05d|%+d|% d|%i\n", data[0], data[0], data[1], data[1], data[0], data[2], 3);)"),
            "7|    7|-8   |-0008|+7| 9|3\n");
  EXPECT_EQ(print(R"(printf("%u %x %X %#x %o %#o\n", 4000000000u, 255, 255, 255, 8, 8);)"), "4000000000 ff FF 0xff 10 010\n");
  EXPECT_EQ(
      print(
          R"(printf("%ld %lu %lx %hd %hhd %hhu\n", -5000000000L, 18000000000000000000UL, 0x123456789abcL, (short)-3, (char)-1, (uchar)200);)"),
      "-5000000000 18000000000000000000 123456789abc -3 -1 200\n");
  EXPECT_EQ(print(R"(printf("%f %.2f %10.3f %-10.1f| %e %g %G %a\n", f, f, f, f, f, f, 1e-10f, 1.0f);)"),
            "2.500000 2.50      2.500 2.5       | 2.500000e+00 2.5 1E-10 0x1p+0\n");
  EXPECT_EQ(print(R"(printf("%f %f %f\n", INFINITY, -INFINITY, 1.0 / 3);)"), "inf -inf 0.333333\n");
}

TEST(Printf, FormatsText) {
  EXPECT_EQ(print(R"(printf("%s and %10s %-4s| %c%c %% done\n", "one", "two", "3", 'x', 65);)"), "one and        two 3   | xA % done\n");
  EXPECT_EQ(print(R"(constant char* p = "late"; printf("%.2s %s\n", "cut", p);)"), "cu late\n");
  EXPECT_EQ(print(R"(printf("nothing\n");)"), "nothing\n");
  EXPECT_EQ(print(R"(printf("%p\n", (global int*)0x1234);)"), "0x1234\n");
}

TEST(Printf, FormatsVectors) {
  EXPECT_EQ(print(R"(printf("%v4hlf\n", (float4)(1, 2.5f, -3, f));)"), "1.000000,2.500000,-3.000000,2.500000\n");
  EXPECT_EQ(print(R"(printf("%.1v2lf %v3hld\n", (double2)(1.25, 2.5), (int3)(1, -2, 3));)"), "1.2,2.5 1,-2,3\n");
  EXPECT_EQ(print(R"(printf("%v4hhd %#v2hhx %v8hu\n", (char4)(-1, 2, -3, 4), (uchar2)(250, 16), (ushort8)(65535));)"),
            "-1,2,-3,4 0xfa,0x10 65535,65535,65535,65535,65535,65535,65535,65535\n");
  EXPECT_EQ(print(R"(printf("%v2ld %5v2hld|\n", (long2)(-1, 1L << 40), (int2)(4, 5));)"), "-1,1099511627776     4,    5|\n");
}

TEST(Printf, KeepsTheOrderOfWorkItemsAndWorksAroundBarriers) {
  Program program(R"(
    void say(int round) { printf("item %d round %d\n", (int)get_global_id(0), round); }
    kernel void k() { say(0); barrier(CLK_LOCAL_MEM_FENCE); say(1); })");
  Arguments arguments;
  program.run("k", arguments, {3, 1, 1}, {3, 1, 1});
  EXPECT_EQ(program.printed(), "item 0 round 0\nitem 1 round 0\nitem 2 round 0\nitem 0 round 1\nitem 1 round 1\nitem 2 round 1\n");
}

TEST(Printf, SurvivesWrongFormats) {
  EXPECT_EQ(print(R"(printf("%d %s\n", 1);)", "-w"), "1 \n");
  EXPECT_EQ(print(R"(printf("%s|%d|%f|%q|%", 5, 1.5f, 7);)", "-w"), "|1|7.000000|q|");
  EXPECT_LE(print(R"(printf("%99999d%99999d\n", 1, 2);)", "-w").size(), 9000U);
}

} // namespace
} // namespace farcl::kernel_compiler::test
