/* vector_add: the shortest useful OpenCL program, in C. Adds two vectors on the first device it finds.
 *
 *   cc vector_add.c -o vector_add -lOpenCL
 *   farcl run -- ./vector_add */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCount = 1 << 20 };

static const char* kSource = "__kernel void add(__global const float *a, __global const float *b, __global float *sum) {\n"
                             "  size_t i = get_global_id(0);\n"
                             "  sum[i] = a[i] + b[i];\n"
                             "}\n";

/* OpenCL says what went wrong by a number; 0 is success. */
static void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS) {
    fprintf(stderr, "vector_add: %s failed with %d\n", what, status);
    exit(1);
  }
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int status;
  char name[256];
  size_t i, count = kCount, bytes = kCount * sizeof(float);
  float *a = malloc(bytes), *b = malloc(bytes), *sum = malloc(bytes);
  if (!a || !b || !sum)
    return 1;
  for (i = 0; i < count; ++i) {
    a[i] = (float)i;
    b[i] = 0.5f * (float)i;
  }

  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL), "clGetDeviceInfo");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue");

  cl_program program = clCreateProgramWithSource(context, 1, &kSource, NULL, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "add", &status);
  check(status, "clCreateKernel");

  cl_mem buffer_a = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, a, &status);
  check(status, "clCreateBuffer");
  cl_mem buffer_b = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, b, &status);
  check(status, "clCreateBuffer");
  cl_mem buffer_sum = clCreateBuffer(context, CL_MEM_WRITE_ONLY, bytes, NULL, &status);
  check(status, "clCreateBuffer");
  check(clSetKernelArg(kernel, 0, sizeof buffer_a, &buffer_a), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof buffer_b, &buffer_b), "clSetKernelArg");
  check(clSetKernelArg(kernel, 2, sizeof buffer_sum, &buffer_sum), "clSetKernelArg");
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  check(clEnqueueReadBuffer(queue, buffer_sum, CL_TRUE, 0, bytes, sum, 0, NULL, NULL), "clEnqueueReadBuffer");

  for (i = 0; i < count; ++i) {
    if (sum[i] != a[i] + b[i]) {
      fprintf(stderr, "vector_add: element %zu is %f and should be %f\n", i, sum[i], a[i] + b[i]);
      return 1;
    }
  }
  printf("added %zu numbers on %s; all are right\n", count, name);

  clReleaseMemObject(buffer_sum);
  clReleaseMemObject(buffer_b);
  clReleaseMemObject(buffer_a);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  free(sum);
  free(b);
  free(a);
  return 0;
}
