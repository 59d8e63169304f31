// Kernels: what the compiler says about them, their arguments, and index spaces of any legal size.
#include "support/cl_fixture.hpp"

#include <numeric>

// The fixture's headers are those of OpenCL 1.2.
extern "C" CL_API_ENTRY cl_kernel CL_API_CALL clCloneKernel(cl_kernel source_kernel, cl_int* errcode_ret);

namespace farcl::end_to_end {
namespace {

class Kernels : public ClTest {
protected:
  struct Argument {
    std::string name;
    std::string type;
    cl_kernel_arg_address_qualifier address;
    cl_kernel_arg_type_qualifier qualifiers;
  };
  static void expect_argument(const cl::Kernel& kernel, cl_uint index, const Argument& wanted) {
    SCOPED_TRACE(wanted.name);
    EXPECT_EQ(kernel.getArgInfo<CL_KERNEL_ARG_NAME>(index), wanted.name);
    EXPECT_EQ(kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(index), wanted.type);
    EXPECT_EQ(kernel.getArgInfo<CL_KERNEL_ARG_ADDRESS_QUALIFIER>(index), wanted.address);
    EXPECT_EQ(kernel.getArgInfo<CL_KERNEL_ARG_TYPE_QUALIFIER>(index), wanted.qualifiers);
    EXPECT_EQ(kernel.getArgInfo<CL_KERNEL_ARG_ACCESS_QUALIFIER>(index), cl_kernel_arg_access_qualifier{CL_KERNEL_ARG_ACCESS_NONE});
  }
  /// Runs a kernel that counts in out[global id] and returns what it left.
  std::vector<int> count_visits(const std::string& options, std::size_t global, std::size_t local) {
    cl::Kernel kernel(build("kernel void k(global int *out) { atomic_inc(&out[get_global_id(0)]); }", options), "k");
    cl::Buffer out = upload(std::vector<int>(global + 64, 0));
    kernel.setArg(0, out);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(global), local != 0 ? cl::NDRange(local) : cl::NullRange);
    return download<int>(out, global + 64);
  }
};

TEST_F(Kernels, ArgumentInformationIsThereWithoutAskingForIt) {
  cl::Kernel kernel(build("typedef struct { int a; float b; } pair;\n"
                          "kernel void k(global const float4 * restrict in, global volatile int *out, constant uchar *table,\n"
                          "              local double *scratch, unsigned int count, pair both, const float factor) {}"),
                    "k");
  EXPECT_EQ(kernel.getInfo<CL_KERNEL_NUM_ARGS>(), 7u);
  expect_argument(kernel, 0, {"in", "float4*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT});
  expect_argument(kernel, 1, {"out", "int*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_VOLATILE});
  expect_argument(kernel, 2, {"table", "uchar*", CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_TYPE_CONST});
  expect_argument(kernel, 3, {"scratch", "double*", CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_TYPE_NONE});
  expect_argument(kernel, 4, {"count", "uint", CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE});
  expect_argument(kernel, 5, {"both", "pair", CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE});
  expect_argument(kernel, 6, {"factor", "float", CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE});
}

TEST_F(Kernels, WorkGroupInformation) {
  cl::Program program = build("kernel __attribute__((reqd_work_group_size(4, 2, 1))) void required(global int *x) { *x = 1; }\n"
                              "kernel void with_local(global int *x, local int *more) { local int own[100]; own[0] = *x; *x = own[0]; }");
  cl::Kernel required(program, "required");
  EXPECT_EQ(required.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(device), (cl::array<cl::size_type, 3>{4, 2, 1}));
  EXPECT_NE(required.getInfo<CL_KERNEL_ATTRIBUTES>().find("reqd_work_group_size(4,2,1)"), std::string::npos);
  cl::Kernel with_local(program, "with_local");
  const cl_ulong own = with_local.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device);
  EXPECT_GE(own, 400u);
  EXPECT_LE(own, 512u); // aligned
  with_local.setArg(1, cl::Local(64));
  EXPECT_EQ(with_local.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device), own + 64);
  EXPECT_GE(with_local.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device), 1u);
  EXPECT_LE(with_local.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device), device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>());
  EXPECT_GE(with_local.getWorkGroupInfo<CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE>(device), 1u);
}

TEST_F(Kernels, NamesOfAProgramInTheOrderOfTheSource) {
  cl::Program program = build("kernel void zebra() {}\nkernel void ant() {}\nvoid helper() {}\nkernel void mouse() {}");
  EXPECT_EQ(program.getInfo<CL_PROGRAM_NUM_KERNELS>(), 3u);
  EXPECT_EQ(program.getInfo<CL_PROGRAM_KERNEL_NAMES>(), "zebra;ant;mouse");
  std::vector<cl::Kernel> kernels;
  program.createKernels(&kernels);
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[1].getInfo<CL_KERNEL_FUNCTION_NAME>(), "ant");
  cl_int code = 0;
  EXPECT_EQ(clCreateKernel(program(), "helper", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_KERNEL_NAME);
}

TEST_F(Kernels, AnyGlobalSizeRunsOnceEverywhere) {
  for (const std::size_t global : {1UL, 7UL, 64UL, 97UL, 1000UL, 4099UL}) { // primes among them: the local size is chosen
    SCOPED_TRACE(global);
    std::vector<int> wanted(global + 64, 0);
    std::fill_n(wanted.begin(), global, 1);
    EXPECT_EQ(count_visits("", global, 0), wanted);
  }
}

TEST_F(Kernels, PartialGroupsWhereTheProgramAllowsThem) {
  constexpr cl_device_info kNonUniformWorkGroupSupport = 0x1065;
  cl_bool supported = CL_FALSE;
  (void)clGetDeviceInfo(device(), kNonUniformWorkGroupSupport, sizeof supported, &supported, nullptr);
  if (supported == CL_FALSE) {
    GTEST_SKIP() << "work-groups that are not full are an option of OpenCL 3.0; this device's OpenCL does not have it";
  }
  std::vector<int> wanted(1003 + 64, 0);
  std::fill_n(wanted.begin(), 1003, 1);
  EXPECT_EQ(count_visits("-cl-std=CL3.0", 1003, 16), wanted);
  for (const char* options : {"-cl-std=CL1.2", "-cl-std=CL3.0 -cl-uniform-work-group-size"}) {
    try {
      (void)count_visits(options, 1003, 16);
      ADD_FAILURE() << options;
    } catch (const cl::Error& error) {
      EXPECT_EQ(error.err(), CL_INVALID_WORK_GROUP_SIZE) << options;
    }
  }
}

TEST_F(Kernels, ArgumentsAreThoseOfTheEnqueue) {
  cl::Kernel kernel(build("typedef struct { int a; short b[3]; } block;\n"
                          "kernel void k(global int *out, int at, block value) { out[at] = value.a + value.b[2]; }"),
                    "k");
  struct Block {
    int a;
    short b[3];
  };
  cl::Buffer out = upload(std::vector<int>(100, 0));
  kernel.setArg(0, out);
  for (int i = 0; i < 100; ++i) {
    kernel.setArg(1, i);
    kernel.setArg(2, Block{1000 * i, {0, 0, static_cast<short>(i)}});
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
  }
  std::vector<int> wanted(100);
  for (int i = 0; i < 100; ++i) {
    wanted[static_cast<std::size_t>(i)] = 1001 * i;
  }
  EXPECT_EQ(download<int>(out, 100), wanted);
}

TEST_F(Kernels, ClonesHaveTheirOwnArguments) {
  if (device.getInfo<CL_DEVICE_VERSION>().find("OpenCL 1.") == 0) {
    GTEST_SKIP() << "clCloneKernel came with OpenCL 2.1; this device's OpenCL is older";
  }
  cl::Kernel kernel(build("kernel void k(global int *out, int value) { *out = value; }"), "k");
  cl::Buffer out = upload(std::vector<int>{0});
  kernel.setArg(0, out);
  kernel.setArg(1, 7);
  cl_int code = 0;
  cl::Kernel clone(clCloneKernel(kernel(), &code));
  ASSERT_EQ(code, CL_SUCCESS);
  clone.setArg(1, 8);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
  EXPECT_EQ(download<int>(out, 1)[0], 7);
  queue.enqueueNDRangeKernel(clone, cl::NullRange, cl::NDRange(1));
  EXPECT_EQ(download<int>(out, 1)[0], 8);
}

} // namespace
} // namespace farcl::end_to_end
