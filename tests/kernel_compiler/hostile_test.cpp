// Sources written to hurt: each must end as a build failure with a log (or build and be harmless), within the time limit, and
// the service must go on.

#include "kernel_runner.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace farcl::kernel_compiler::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr auto kBuildSeconds = "2";
/// Two tries, and some for a busy machine.
constexpr auto kLimit = 25s;

class Hostile : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    service_ = std::make_unique<ServiceProcess>(std::vector<std::string>{"--build-seconds", kBuildSeconds, "--build-mib", "1024"});
  }
  static void TearDownTestSuite() { service_.reset(); }

  CompileReplyData compile(const std::string& source, const std::string& options = "") {
    CompileConnection connection = service_->connect();
    CompileRequest request;
    request.source = source;
    request.options = options;
    auto reply = connection.compile(request, kLimit);
    if (!reply) {
      ADD_FAILURE() << reply.error().message;
      return {};
    }
    return std::move(reply->data);
  }

  std::string refused(const std::string& source) {
    const CompileReplyData reply = compile(source);
    EXPECT_EQ(reply.status, CompileStatus::kBuildFailure);
    EXPECT_FALSE(reply.has_shared_object);
    EXPECT_THAT(reply.log, HasSubstr("error:"));
    return reply.log;
  }

  /// Must come to an end; what the end is does not matter.
  void ends(const std::string& source) {
    const CompileReplyData reply = compile(source);
    if (reply.status != CompileStatus::kOk) {
      EXPECT_THAT(reply.log, HasSubstr("error:"));
    }
  }

  static std::string repeat(const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      all += text;
    }
    return all;
  }

  static std::string in_kernel(const std::string& body) { return "kernel void k(global int* p) {\n" + body + "\n}\n"; }

  static std::unique_ptr<ServiceProcess> service_;
};

std::unique_ptr<ServiceProcess> Hostile::service_;

TEST_F(Hostile, Recursion) {
  EXPECT_THAT(refused("int f(int x) { return x < 2 ? x : f(x - 1) + 1; }" + in_kernel("*p = f(*p);")), HasSubstr("'f' is recursive"));
  EXPECT_THAT(refused("int g(int x); int f(int x) { return x ? g(x - 1) : 0; } int g(int x) { return f(x); }" + in_kernel("*p = f(*p);")),
              HasSubstr("recursive"));
}

TEST_F(Hostile, AssemblyAndLabels) {
  EXPECT_THAT(refused(in_kernel("__asm__ volatile(\"hlt\");")), HasSubstr("assembly"));
  EXPECT_THAT(refused("__asm__(\".globl evil\");" + in_kernel("*p = 1;")), HasSubstr("assembly"));
  EXPECT_THAT(refused(in_kernel("goto *(*p ? &&a : &&b); a: *p = 1; b: *p = 2;")), HasSubstr("computed goto"));
}

TEST_F(Hostile, Builtins) {
  EXPECT_THAT(refused(in_kernel("__builtin_trap();")), HasSubstr("trap"));
  refused(in_kernel("*p = __builtin_return_address(0) != 0;"));
  refused(in_kernel("__builtin_longjmp((void**)p, 1);"));
}

TEST_F(Hostile, FunctionsOfTheHost) {
  EXPECT_THAT(refused("int system(constant char* s);" + in_kernel("*p = system(\"true\");")), HasSubstr("undefined function 'system'"));
  refused("void abort(void);" + in_kernel("abort();"));
  refused("extern int errno_of_host;" + in_kernel("*p = *(private int*)0; p[1] = errno_of_host;"));
  refused("__attribute__((constructor)) void f(void) {}" + in_kernel("*p = 1;"));
  ends("__attribute__((section(\".init_array\"))) constant ulong x = 0x41414141;" + in_kernel("*p = x;"));
  refused("void f(void) {} void g(void) __attribute__((alias(\"f\")));" + in_kernel("g();"));
}

TEST_F(Hostile, OwnFunctionsNamedAsThoseOfC) {
  Program program(
      "int abs_(int x) { return -x; } float sinf(float x) { return 42; } void* memcpy_(void); int strlen(int x) { return x + 1; }"
      "kernel void k(global int* p) { p[0] = (int)sinf(p[0]); p[1] = strlen(p[1]); }");
  std::vector<int> data = {0, 5};
  Arguments arguments;
  arguments.buffer(data);
  program.run("k", arguments, {1, 1, 1}, {1, 1, 1});
  EXPECT_EQ(data, (std::vector<int>{42, 6}));
}

TEST_F(Hostile, FilesOfTheServer) {
  for (const char* path : {"/etc/passwd", "/dev/zero", "/proc/self/environ", "../../../../../../etc/passwd", "/proc/self/fd/0"}) {
    EXPECT_THAT(refused("#include \"" + std::string(path) + "\"\n" + in_kernel("*p = 1;")), HasSubstr("file not found"));
  }
  EXPECT_EQ(compile(in_kernel("*p = 1;"), "-I /etc -I /proc/self").status, CompileStatus::kOk);
  refused("constant char x[] = {\n#embed \"/etc/passwd\"\n};" + in_kernel("*p = x[0];"));
}

TEST_F(Hostile, GiantVariables) {
  EXPECT_THAT(refused(in_kernel("volatile char x[4UL << 40]; x[*p] = 1; *p = x[1];")),
              AnyOf(HasSubstr("private memory"), HasSubstr("too large")));
  refused(in_kernel("volatile char x[1 << 20]; x[*p] = 1; *p = x[1];"));
  refused(in_kernel("local char x[1UL << 40]; x[*p] = 1; barrier(1); *p = x[1];"));
  ends("constant int t[1 << 28] = {1};" + in_kernel("*p = t[*p];"));
}

TEST_F(Hostile, DeepNesting) {
  refused(in_kernel("*p = " + repeat("(", 5000) + "1" + repeat(")", 5000) + ";"));
  ends(in_kernel(repeat("if (*p) {", 20000) + "*p = 2;" + repeat("}", 20000)));
  ends(in_kernel("*p = " + repeat("*p + ", 100000) + "1;"));
  ends(in_kernel("*p = " + repeat("-~", 50000) + "1;"));
}

TEST_F(Hostile, EndlessWork) {
  std::string macros = "#define A0 a+=a*3;\n";
  for (int i = 1; i < 40; ++i) {
    macros += "#define A" + std::to_string(i) + " A" + std::to_string(i - 1) + " A" + std::to_string(i - 1) + "\n";
  }
  EXPECT_THAT(refused(macros + in_kernel("int a = *p; A39 *p = a;")), AnyOf(HasSubstr("did not finish"), HasSubstr("memory")));
  std::string doubling = "__attribute__((always_inline)) int f0(int x) { return x * 3 + 1; }\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "f" + std::to_string(i - 1);
    doubling +=
        "__attribute__((always_inline)) int f" + std::to_string(i) + "(int x) { return " + before + "(x) ^ " + before + "(x + 1); }\n";
  }
  ends(doubling + in_kernel("*p = f39(*p);"));
  ends(in_kernel("int x = *p;\n__attribute__((opencl_unroll_hint(1000000))) for (int i = 0; i < 1000000; ++i) x = x * 7 + i;\n*p = x;"));
  ends("#include \"source.cl\"\n" + in_kernel("*p = 1;"));
}

TEST_F(Hostile, LargePrograms) {
  std::string stores;
  for (int i = 0; i < 5000; ++i) {
    stores += "p[p[" + std::to_string(i) + "]] = p[" + std::to_string(i + 1) + "] + 1;\n";
  }
  ends(in_kernel(stores));
  std::string cases = "switch (*p) {\n";
  for (int i = 0; i < 50000; ++i) {
    cases += "case " + std::to_string(i * 7) + ": *p = " + std::to_string(i * 31 % 1009) + "; break;\n";
  }
  ends(in_kernel(cases + "}"));
}

TEST_F(Hostile, GarbageText) {
  refused(std::string(100000, '\xff'));
  ends(std::string("kernel void k(global int* p) { *p = 1; \0 }", 42) + std::string(1000, '\0'));
  EXPECT_EQ(compile("").status, CompileStatus::kOk);
  refused("kernel int k(global int* p) { return 1; }");
  refused(in_kernel("void (*f)(void) = 0; f();"));
  refused("kernel void k(global int* p, ...) { }");
  refused("kernel void k(image2d_t i, global int* p) { *p = get_image_width(i); }");
}

TEST_F(Hostile, DivisionByZeroInConstants) {
  Program program("kernel void k(global int* p) { p[3] = 1 / 0; p[0] = 3; if (1 % 0) p[1] = 4; else p[1] = 4; p[2] = 9; p[3] += "
                  "(-2147483647 - 1) / -1; }",
                  "-w");
  std::vector<int> data(4);
  Arguments arguments;
  arguments.buffer(data);
  program.run("k", arguments, {1, 1, 1}, {1, 1, 1});
  data.pop_back(); // unspecified
  EXPECT_EQ(data, (std::vector<int>{3, 4, 9}));
}

} // namespace
} // namespace farcl::kernel_compiler::test
