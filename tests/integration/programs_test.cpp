// Programs: build logs, options, binaries, separate compilation, builds with callbacks.
#include "support/cl_fixture.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace farcl::end_to_end {
namespace {

class Programs : public ClTest {
protected:
  std::string log_of(const cl::Program& program) { return program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device); }

  cl_int build_code(const std::string& source, const char* options = nullptr) {
    cl_int code = CL_SUCCESS;
    const char* text = source.c_str();
    cl_program program = clCreateProgramWithSource(context(), 1, &text, nullptr, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    code = clBuildProgram(program, 0, nullptr, options, nullptr, nullptr);
    EXPECT_EQ(clReleaseProgram(program), CL_SUCCESS);
    return code;
  }
  cl::Program source_program(const std::string& source) { return cl::Program(context, source); }
  cl_int compile(cl_program program, const char* options = nullptr, std::vector<cl_program> headers = {},
                 std::vector<const char*> names = {}) {
    return clCompileProgram(program, 0, nullptr, options, static_cast<cl_uint>(headers.size()), headers.empty() ? nullptr : headers.data(),
                            names.empty() ? nullptr : names.data(), nullptr, nullptr);
  }
  cl_program link(std::vector<cl_program> inputs, const char* options, cl_int& code) {
    return clLinkProgram(context(), 0, nullptr, options, static_cast<cl_uint>(inputs.size()), inputs.data(), nullptr, nullptr, &code);
  }
  int run(cl_program program, const char* name = "k", int argument = 0) {
    cl_int code = 0;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    cl::Buffer out = upload(std::vector<int>{argument});
    cl_mem handle = out();
    EXPECT_EQ(clSetKernelArg(kernel, 0, sizeof handle, &handle), CL_SUCCESS);
    const std::size_t one = 1;
    EXPECT_EQ(clEnqueueNDRangeKernel(queue(), kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr), CL_SUCCESS);
    const int result = download<int>(out, 1)[0];
    EXPECT_EQ(clReleaseKernel(kernel), CL_SUCCESS);
    return result;
  }
  std::vector<unsigned char> binary_of(cl_program program) {
    std::size_t size = 0;
    EXPECT_EQ(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), CL_SUCCESS);
    EXPECT_GT(size, 0u);
    std::vector<unsigned char> bytes(size);
    unsigned char* pointer = bytes.data();
    EXPECT_EQ(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr), CL_SUCCESS);
    return bytes;
  }
  cl_program from_binary(cl_context in, const std::vector<unsigned char>& bytes, cl_int& code) {
    const unsigned char* data = bytes.data();
    const std::size_t size = bytes.size();
    const cl_device_id id = device();
    cl_int status = 0;
    return clCreateProgramWithBinary(in, 1, &id, &size, &data, &status, &code);
  }
  cl_program_binary_type type_of(cl_program program) {
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    EXPECT_EQ(clGetProgramBuildInfo(program, device(), CL_PROGRAM_BINARY_TYPE, sizeof type, &type, nullptr), CL_SUCCESS);
    return type;
  }
};

constexpr const char* kSource = "kernel void k(global int *x) { *x = *x * 3 + OFFSET; }";

TEST_F(Programs, ABuildLogNamesFileAndLine) {
  cl::Program program(context, "kernel void k(global int *x) {\n  *x = 1;\n  *x = no_such_name;\n}\n");
  EXPECT_THROW(program.build(), cl::BuildError);
  const std::string log = log_of(program);
  EXPECT_NE(log.find("no_such_name"), std::string::npos) << log;
  EXPECT_NE(log.find(":3:8"), std::string::npos) << log;
  EXPECT_NE(log.find("error"), std::string::npos) << log;
  EXPECT_EQ(program.getBuildInfo<CL_PROGRAM_BUILD_STATUS>(device), CL_BUILD_ERROR);
}

TEST_F(Programs, WarningsStandInTheLogOfASuccessfulBuild) {
  cl::Program program(context, "kernel void k(global int *x) {\n#warning look at this\n  *x = 1;\n}\n");
  program.build();
  EXPECT_NE(log_of(program).find("look at this"), std::string::npos);
  EXPECT_NE(log_of(program).find(":2:"), std::string::npos);
}

TEST_F(Programs, OptionsArriveAndWrongOnesAreRefused) {
  cl::Program program(context, kSource);
  program.build("-D OFFSET=7 -cl-fast-relaxed-math -w");
  EXPECT_EQ(run(program(), "k", 2), 13);
  EXPECT_EQ(program.getBuildInfo<CL_PROGRAM_BUILD_OPTIONS>(device), "-D OFFSET=7 -cl-fast-relaxed-math -w");
  EXPECT_EQ(build_code(kSource, "-DOFFSET=1"), CL_SUCCESS);
  EXPECT_EQ(build_code(kSource), CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(build_code(kSource, "-DOFFSET=1 -no-such-option"), CL_INVALID_BUILD_OPTIONS);
  EXPECT_EQ(build_code(kSource, "-DOFFSET=1 -cl-std=CL9.9"), CL_INVALID_BUILD_OPTIONS);
}

TEST_F(Programs, CanBeBuiltAgain) {
  cl::Program program(context, kSource);
  for (int offset = 0; offset < 5; ++offset) {
    program.build(("-DOFFSET=" + std::to_string(offset)).c_str());
    EXPECT_EQ(run(program(), "k", 1), 3 + offset);
  }
  EXPECT_THROW(program.build(), cl::BuildError);
  cl_int code = 0;
  EXPECT_EQ(clCreateKernel(program(), "k", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_PROGRAM_EXECUTABLE);
}

TEST_F(Programs, ABinaryRunsInAnotherContext) {
  cl::Program program(context, kSource);
  program.build("-DOFFSET=5");
  const std::vector<unsigned char> bytes = binary_of(program());
  context = cl::Context(device);
  queue = cl::CommandQueue(context, device);
  cl_int code = 0;
  cl_program copy = from_binary(context(), bytes, code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(clBuildProgram(copy, 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(run(copy, "k", 4), 17);
  cl_program copy_of_copy = from_binary(context(), binary_of(copy), code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(clBuildProgram(copy_of_copy, 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(run(copy_of_copy, "k", 5), 20);
  EXPECT_EQ(clReleaseProgram(copy), CL_SUCCESS);
  EXPECT_EQ(clReleaseProgram(copy_of_copy), CL_SUCCESS);
}

TEST_F(Programs, DamagedBinariesAreRefused) {
  cl::Program program(context, kSource);
  program.build("-DOFFSET=5");
  const std::vector<unsigned char> good = binary_of(program());
  cl_int code = 0;
  std::vector<unsigned char> bad = good;
  bad[0] ^= 1;
  EXPECT_EQ(from_binary(context(), bad, code), nullptr);
  EXPECT_EQ(code, CL_INVALID_BINARY);
  bad = good; // the header is fine, what the server gets is not
  for (std::size_t i = bad.size() / 2; i < bad.size() / 2 + 16; ++i) {
    bad[i] ^= 0x55;
  }
  cl_program damaged = from_binary(context(), bad, code);
  if (damaged != nullptr) {
    EXPECT_EQ(clBuildProgram(damaged, 0, nullptr, nullptr, nullptr, nullptr), CL_INVALID_BINARY);
    EXPECT_EQ(clReleaseProgram(damaged), CL_SUCCESS);
  }
  EXPECT_EQ(run(program(), "k", 1), 8); // the session goes on
}

TEST_F(Programs, CompiledApartAndLinked) {
  cl::Program helper = source_program("int twice(int x) { return 2 * x; }");
  cl::Program user = source_program("#include \"my/helper.h\"\nkernel void k(global int *x) { *x = twice(*x) + ONE; }");
  cl::Program header = source_program("int twice(int x);\n#define ONE 1\n");
  ASSERT_EQ(compile(helper()), CL_SUCCESS);
  ASSERT_EQ(compile(user(), nullptr, {header()}, {"my/helper.h"}), CL_SUCCESS) << log_of(user);
  EXPECT_EQ(type_of(helper()), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT});
  cl_int code = 0;
  cl_program linked = link({helper(), user()}, nullptr, code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(type_of(linked), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  EXPECT_EQ(run(linked, "k", 20), 41);
  EXPECT_EQ(clReleaseProgram(linked), CL_SUCCESS);
}

TEST_F(Programs, LibrariesAndBinariesAreLinked) {
  cl::Program helper = source_program("int twice(int x) { return 2 * x; }");
  cl::Program user = source_program("int twice(int x); kernel void k(global int *x) { *x = twice(*x); }");
  ASSERT_EQ(compile(helper()), CL_SUCCESS);
  ASSERT_EQ(compile(user()), CL_SUCCESS);
  cl_int code = 0;
  cl_program library = link({helper()}, "-create-library", code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(type_of(library), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_LIBRARY});
  cl_program object = from_binary(context(), binary_of(user()), code); // as if it came from a file
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(type_of(object), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT});
  cl_program linked = link({library, object}, nullptr, code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(run(linked, "k", 21), 42);
  for (cl_program program : {library, object, linked}) {
    EXPECT_EQ(clReleaseProgram(program), CL_SUCCESS);
  }
}

TEST_F(Programs, ALinkThatFailsSaysWhatIsMissing) {
  cl::Program user = source_program("int nowhere(int x); kernel void k(global int *x) { *x = nowhere(*x); }");
  ASSERT_EQ(compile(user()), CL_SUCCESS);
  cl_int code = 0;
  cl_program linked = link({user()}, nullptr, code);
  EXPECT_EQ(code, CL_LINK_PROGRAM_FAILURE);
  ASSERT_NE(linked, nullptr);
  char log[4096] = "";
  EXPECT_EQ(clGetProgramBuildInfo(linked, device(), CL_PROGRAM_BUILD_LOG, sizeof log, log, nullptr), CL_SUCCESS);
  EXPECT_NE(std::string(log).find("nowhere"), std::string::npos) << log;
  EXPECT_EQ(clReleaseProgram(linked), CL_SUCCESS);
  EXPECT_EQ(compile(user(), "-no-such-option"), CL_INVALID_COMPILER_OPTIONS);
  ASSERT_EQ(compile(user()), CL_SUCCESS);
  EXPECT_EQ(link({user()}, "-no-such-option", code), nullptr);
  EXPECT_EQ(code, CL_INVALID_LINKER_OPTIONS);
}

/// Counts builds that have ended.
struct Ended {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;

  static void CL_CALLBACK one(cl_program, void* user_data) {
    auto& self = *static_cast<Ended*>(user_data);
    const std::lock_guard<std::mutex> held(self.mutex);
    ++self.count;
    self.changed.notify_all();
  }
  bool wait_for(int wanted) {
    std::unique_lock<std::mutex> held(mutex);
    return changed.wait_for(held, std::chrono::seconds(60), [&] { return count == wanted; });
  }
};

TEST_F(Programs, ManyBuildsWithCallbacksAtOnce) {
  constexpr int kPrograms = 12;
  Ended ended;
  std::vector<cl::Program> programs;
  for (int i = 0; i < kPrograms; ++i) {
    programs.emplace_back(context, kSource);
    const std::string options = i % 4 == 3 ? "" : "-DOFFSET=" + std::to_string(i); // every fourth fails
    ASSERT_EQ(clBuildProgram(programs.back()(), 0, nullptr, options.c_str(), Ended::one, &ended), CL_SUCCESS);
  }
  ASSERT_TRUE(ended.wait_for(kPrograms));
  for (int i = 0; i < kPrograms; ++i) {
    const bool fails = i % 4 == 3;
    EXPECT_EQ(programs[static_cast<std::size_t>(i)].getBuildInfo<CL_PROGRAM_BUILD_STATUS>(device),
              fails ? CL_BUILD_ERROR : CL_BUILD_SUCCESS);
    if (!fails) {
      EXPECT_EQ(run(programs[static_cast<std::size_t>(i)](), "k", 1), 3 + i);
    }
  }
}

TEST_F(Programs, KeepWorkingAfterTheirHandleIsReleased) {
  cl_int code = 0;
  const char* text = "kernel void k(global int *x) { *x += 5; }";
  cl_program program = clCreateProgramWithSource(context(), 1, &text, nullptr, &code);
  ASSERT_EQ(clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, "k", &code);
  ASSERT_EQ(clReleaseProgram(program), CL_SUCCESS);
  cl::Buffer x = upload(std::vector<int>{1});
  cl_mem handle = x();
  ASSERT_EQ(clSetKernelArg(kernel, 0, sizeof handle, &handle), CL_SUCCESS);
  const std::size_t one = 1;
  ASSERT_EQ(clEnqueueNDRangeKernel(queue(), kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr), CL_SUCCESS);
  ASSERT_EQ(clReleaseKernel(kernel), CL_SUCCESS); // while it may still run
  EXPECT_EQ(download<int>(x, 1)[0], 6);
}

} // namespace
} // namespace farcl::end_to_end
