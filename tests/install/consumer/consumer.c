/* Finds the platform FarCL through OpenCL's loader and lets its first device add two vectors. */
#include <CL/cl.h>
#include <farcl/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1000

static void check(cl_int status, const char* call) {
  if (status != CL_SUCCESS) {
    fprintf(stderr, "%s failed: %d\n", call, (int)status);
    exit(1);
  }
}

static cl_platform_id find_farcl(void) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  check(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
  for (cl_uint i = 0; i < count; ++i) {
    char name[256] = "";
    check(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL), "clGetPlatformInfo");
    if (strcmp(name, "FarCL") == 0) {
      return platforms[i];
    }
  }
  fprintf(stderr, "no platform FarCL among %u\n", (unsigned)count);
  exit(1);
}

int main(void) {
  static const char* const source = "kernel void add(global const int* a, global int* b) { size_t i = get_global_id(0); b[i] += a[i]; }";
  cl_int a[COUNT], b[COUNT];
  for (cl_int i = 0; i < COUNT; ++i) {
    a[i] = i * i;
    b[i] = -i;
  }
  cl_int status = CL_SUCCESS;
  cl_device_id device = NULL;
  check(clGetDeviceIDs(find_farcl(), CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &status);
  check(status, "clCreateCommandQueueWithProperties");
  cl_mem left = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof a, a, &status);
  check(status, "clCreateBuffer");
  cl_mem right = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof b, b, &status);
  check(status, "clCreateBuffer");
  cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "add", &status);
  check(status, "clCreateKernel");
  check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &left), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &right), "clSetKernelArg");
  const size_t global_size = COUNT;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global_size, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  check(clEnqueueReadBuffer(queue, right, CL_TRUE, 0, sizeof b, b, 0, NULL, NULL), "clEnqueueReadBuffer");
  for (cl_int i = 0; i < COUNT; ++i) {
    if (b[i] != i * i - i) {
      fprintf(stderr, "element %d is %d\n", (int)i, (int)b[i]);
      return 1;
    }
  }
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseMemObject(left);
  clReleaseMemObject(right);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  printf("FarCL %s added %d numbers\n", FARCL_VERSION_STRING, COUNT);
  return 0;
}
