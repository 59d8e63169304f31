/* Loads the ICD loader by hand, leaves work in flight and closes it again: the driver must stay where its threads are. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void* loader;

static void* find(const char* name) {
  void* function = dlsym(loader, name);
  if (!function) {
    fprintf(stderr, "no %s\n", name);
    exit(2);
  }
  return function;
}
#define CALL(name) ((__typeof__(&name))find(#name))

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int status;
  size_t bytes = 32u << 20;
  int round;
  char* data = calloc(1, bytes);
  for (round = 0; round < 3; ++round) {
    loader = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!loader)
      return 2;
    if (CALL(clGetPlatformIDs)(1, &platform, NULL) != CL_SUCCESS ||
        CALL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
      return 3;
    cl_context context = CALL(clCreateContext)(NULL, 1, &device, NULL, NULL, &status);
    if (status != CL_SUCCESS)
      return 4;
    cl_command_queue queue = CALL(clCreateCommandQueue)(context, device, 0, &status);
    cl_mem buffer = CALL(clCreateBuffer)(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    if (CALL(clEnqueueWriteBuffer)(queue, buffer, CL_FALSE, 0, bytes, data, 0, NULL, NULL) != CL_SUCCESS ||
        CALL(clFlush)(queue) != CL_SUCCESS)
      return 5;
    dlclose(loader);
  }
  struct timespec moment = {0, 300000000};
  nanosleep(&moment, NULL); /* time for a thread whose code is gone to fall */
  puts("still here");
  return 0;
}
