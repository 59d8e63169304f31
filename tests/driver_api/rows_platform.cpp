// Platforms, devices, contexts, queues.
#include "tests/driver_api/bench.hpp"

namespace farcl::test {
namespace {

void CL_CALLBACK ignore_notify(const char*, const void*, size_t, void*) {}
void CL_CALLBACK ignore_context(cl_context, void*) {}

const cl_context_properties* platform_property(cl_platform_id platform) {
  static cl_context_properties list[3] = {CL_CONTEXT_PLATFORM, 0, 0};
  list[1] = reinterpret_cast<cl_context_properties>(platform);
  return list;
}

constexpr cl_context_properties kUnknownProperty[] = {0x7777, 1, 0};
constexpr cl_context_properties kTwice[] = {CL_CONTEXT_INTEROP_USER_SYNC, CL_FALSE, CL_CONTEXT_INTEROP_USER_SYNC, CL_FALSE, 0};
constexpr cl_context_properties kBadValue[] = {CL_CONTEXT_INTEROP_USER_SYNC, 5, 0};

} // namespace

ROW(clGetPlatformIDs, CL_INVALID_VALUE) {
  cl_platform_id one = nullptr;
  b.expect(api.clGetPlatformIDs(0, &one, nullptr));
  b.expect(api.clGetPlatformIDs(1, nullptr, nullptr));
}

ROW(clGetPlatformInfo, CL_INVALID_PLATFORM) {
  for (auto handle : b.bad<cl_platform_id>()) {
    b.expect(api.clGetPlatformInfo(handle, CL_PLATFORM_NAME, 0, nullptr, nullptr));
  }
}
ROW(clGetPlatformInfo, CL_INVALID_VALUE) {
  char small[2];
  b.expect(api.clGetPlatformInfo(b.platform, CL_DEVICE_NAME, 0, nullptr, nullptr));
  b.expect(api.clGetPlatformInfo(b.platform, CL_PLATFORM_NAME, sizeof small, small, nullptr));
}

ROW(clGetDeviceIDs, CL_INVALID_PLATFORM) {
  cl_uint count = 0;
  for (auto handle : b.bad<cl_platform_id>()) {
    b.expect(api.clGetDeviceIDs(handle, CL_DEVICE_TYPE_ALL, 0, nullptr, &count));
  }
}
ROW(clGetDeviceIDs, CL_INVALID_DEVICE_TYPE) {
  cl_uint count = 0;
  b.expect(api.clGetDeviceIDs(b.platform, 0, 0, nullptr, &count));
  b.expect(api.clGetDeviceIDs(b.platform, 1 << 10, 0, nullptr, &count));
}
ROW(clGetDeviceIDs, CL_INVALID_VALUE) {
  cl_device_id one = nullptr;
  b.expect(api.clGetDeviceIDs(b.platform, CL_DEVICE_TYPE_ALL, 0, &one, nullptr));
  b.expect(api.clGetDeviceIDs(b.platform, CL_DEVICE_TYPE_ALL, 1, nullptr, nullptr));
}
ROW(clGetDeviceIDs, CL_DEVICE_NOT_FOUND) {
  cl_uint count = 99;
  b.expect(api.clGetDeviceIDs(b.platform, CL_DEVICE_TYPE_ACCELERATOR, 0, nullptr, &count));
  EXPECT_EQ(count, 0u);
}

ROW(clGetDeviceInfo, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect(api.clGetDeviceInfo(handle, CL_DEVICE_NAME, 0, nullptr, nullptr));
  }
}
ROW(clGetDeviceInfo, CL_INVALID_VALUE) {
  char small[1];
  b.expect(api.clGetDeviceInfo(b.devices[0], CL_PLATFORM_NAME, 0, nullptr, nullptr));
  b.expect(api.clGetDeviceInfo(b.devices[0], CL_DEVICE_TYPE, sizeof small, small, nullptr));
}

ROW(clRetainDevice, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect(api.clRetainDevice(handle));
  }
}
ROW(clReleaseDevice, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect(api.clReleaseDevice(handle));
  }
}
ROW(clRetainDeviceEXT, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect(api.clRetainDeviceEXT(handle));
  }
}
ROW(clReleaseDeviceEXT, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect(api.clReleaseDeviceEXT(handle));
  }
}
ROW(clCreateSubDevices, CL_INVALID_DEVICE) {
  const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect(api.clCreateSubDevices(handle, equally, 0, nullptr, nullptr));
  }
}
ROW(clCreateSubDevices, CL_INVALID_VALUE) {
  const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  b.expect(api.clCreateSubDevices(b.devices[0], equally, 0, nullptr, nullptr));
}

// --- Contexts ---------------------------------------------------------------------------------------------------------------

ROW(clCreateContext, CL_INVALID_PLATFORM) {
  for (auto handle : b.bad<cl_platform_id>()) {
    b.expect_made([&](cl_int* e) { return api.clCreateContext(platform_property(handle), 1, b.devices.data(), nullptr, nullptr, e); });
  }
}
ROW(clCreateContext, CL_INVALID_PROPERTY) {
  for (const auto* list : {kUnknownProperty, kTwice, kBadValue}) {
    b.expect_made([&](cl_int* e) { return api.clCreateContext(list, 1, b.devices.data(), nullptr, nullptr, e); });
  }
}
ROW(clCreateContext, CL_INVALID_VALUE) {
  int data = 0;
  b.expect_made([&](cl_int* e) { return api.clCreateContext(nullptr, 0, b.devices.data(), nullptr, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clCreateContext(nullptr, 1, nullptr, nullptr, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clCreateContext(nullptr, 1, b.devices.data(), nullptr, &data, e); });
}
ROW(clCreateContext, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect_made([&](cl_int* e) { return api.clCreateContext(nullptr, 1, &handle, nullptr, nullptr, e); });
  }
}
ROW(clCreateContext, CL_DEVICE_NOT_AVAILABLE) {
  b.kill_server();
  b.expect_made([&](cl_int* e) { return api.clCreateContext(nullptr, 1, b.devices.data(), nullptr, nullptr, e); });
}

ROW(clCreateContextFromType, CL_INVALID_PLATFORM) {
  for (auto handle : b.bad<cl_platform_id>()) {
    b.expect_made(
        [&](cl_int* e) { return api.clCreateContextFromType(platform_property(handle), CL_DEVICE_TYPE_ALL, nullptr, nullptr, e); });
  }
}
ROW(clCreateContextFromType, CL_INVALID_PROPERTY) {
  for (const auto* list : {kUnknownProperty, kTwice, kBadValue}) {
    b.expect_made([&](cl_int* e) { return api.clCreateContextFromType(list, CL_DEVICE_TYPE_ALL, nullptr, nullptr, e); });
  }
}
ROW(clCreateContextFromType, CL_INVALID_VALUE) {
  int data = 0;
  b.expect_made([&](cl_int* e) { return api.clCreateContextFromType(nullptr, CL_DEVICE_TYPE_ALL, nullptr, &data, e); });
}
ROW(clCreateContextFromType, CL_INVALID_DEVICE_TYPE) {
  b.expect_made([&](cl_int* e) { return api.clCreateContextFromType(nullptr, 0, ignore_notify, nullptr, e); });
  b.expect_made([&](cl_int* e) { return api.clCreateContextFromType(nullptr, 1 << 20, nullptr, nullptr, e); });
}
ROW(clCreateContextFromType, CL_DEVICE_NOT_AVAILABLE) {
  b.kill_server();
  b.expect_made([&](cl_int* e) { return api.clCreateContextFromType(nullptr, CL_DEVICE_TYPE_ALL, nullptr, nullptr, e); });
}
ROW(clCreateContextFromType, CL_DEVICE_NOT_FOUND) {
  b.expect_made([&](cl_int* e) { return api.clCreateContextFromType(nullptr, CL_DEVICE_TYPE_ACCELERATOR, nullptr, nullptr, e); });
}

ROW(clRetainContext, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect(api.clRetainContext(handle));
  }
}
ROW(clReleaseContext, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect(api.clReleaseContext(handle));
  }
}
ROW(clSetContextDestructorCallback, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect(api.clSetContextDestructorCallback(handle, ignore_context, nullptr));
  }
}
ROW(clSetContextDestructorCallback, CL_INVALID_VALUE) { b.expect(api.clSetContextDestructorCallback(b.context, nullptr, nullptr)); }

ROW(clGetContextInfo, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect(api.clGetContextInfo(handle, CL_CONTEXT_DEVICES, 0, nullptr, nullptr));
  }
}
ROW(clGetContextInfo, CL_INVALID_VALUE) {
  cl_device_id one = nullptr;
  b.expect(api.clGetContextInfo(b.context, CL_QUEUE_CONTEXT, 0, nullptr, nullptr));
  b.expect(api.clGetContextInfo(b.context, CL_CONTEXT_DEVICES, sizeof one, &one, nullptr));
}

ROW(clGetSupportedImageFormats, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect(api.clGetSupportedImageFormats(handle, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, nullptr, nullptr));
  }
}
ROW(clGetSupportedImageFormats, CL_INVALID_VALUE) {
  cl_image_format format{};
  b.expect(api.clGetSupportedImageFormats(b.context, cl_mem_flags{1} << 40, CL_MEM_OBJECT_IMAGE2D, 0, nullptr, nullptr));
  b.expect(api.clGetSupportedImageFormats(b.context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_BUFFER, 0, nullptr, nullptr));
  b.expect(api.clGetSupportedImageFormats(b.context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, &format, nullptr));
}

// --- Queues -----------------------------------------------------------------------------------------------------------------

ROW(clCreateCommandQueue, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect_made([&](cl_int* e) { return api.clCreateCommandQueue(handle, b.devices[0], 0, e); });
  }
}
ROW(clCreateCommandQueue, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect_made([&](cl_int* e) { return api.clCreateCommandQueue(b.context, handle, 0, e); });
  }
  b.expect_made([&](cl_int* e) { return api.clCreateCommandQueue(b.other_context, b.devices[kOdd], 0, e); });
}
ROW(clCreateCommandQueue, CL_INVALID_VALUE) {
  b.expect_made([&](cl_int* e) { return api.clCreateCommandQueue(b.context, b.devices[0], 1 << 10, e); });
}
ROW(clCreateCommandQueue, CL_INVALID_QUEUE_PROPERTIES) {
  b.expect_made([&](cl_int* e) { return api.clCreateCommandQueue(b.context, b.devices[kOdd], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, e); });
}

namespace {
cl_command_queue with_properties(Bench& b, cl_device_id device, std::vector<cl_queue_properties> list, cl_int* e) {
  list.push_back(0);
  return api.clCreateCommandQueueWithProperties(b.context, device, list.data(), e);
}
} // namespace

ROW(clCreateCommandQueueWithProperties, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect_made([&](cl_int* e) { return api.clCreateCommandQueueWithProperties(handle, b.devices[0], nullptr, e); });
  }
}
ROW(clCreateCommandQueueWithProperties, CL_INVALID_DEVICE) {
  for (auto handle : b.bad<cl_device_id>()) {
    b.expect_made([&](cl_int* e) { return with_properties(b, handle, {}, e); });
  }
}
ROW(clCreateCommandQueueWithProperties, CL_INVALID_VALUE) {
  const cl_device_id device = b.devices[0];
  b.expect_made([&](cl_int* e) { return with_properties(b, device, {0x7777, 1}, e); });
  b.expect_made([&](cl_int* e) { return with_properties(b, device, {CL_QUEUE_PROPERTIES, 1 << 10}, e); });
  b.expect_made([&](cl_int* e) { return with_properties(b, device, {CL_QUEUE_PROPERTIES, 0, CL_QUEUE_PROPERTIES, 0}, e); });
  b.expect_made([&](cl_int* e) { return with_properties(b, device, {CL_QUEUE_SIZE, 4096}, e); });
  b.expect_made([&](cl_int* e) { return with_properties(b, device, {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE}, e); });
  b.expect_made([&](cl_int* e) { return with_properties(b, device, {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE_DEFAULT}, e); });
}
ROW(clCreateCommandQueueWithProperties, CL_INVALID_QUEUE_PROPERTIES) {
  b.expect_made(
      [&](cl_int* e) { return with_properties(b, b.devices[kOdd], {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}, e); });
  b.expect_made([&](cl_int* e) {
    return with_properties(b, b.devices[0], {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}, e);
  });
}

ROW(clRetainCommandQueue, CL_INVALID_COMMAND_QUEUE) {
  for (auto handle : b.bad<cl_command_queue>()) {
    b.expect(api.clRetainCommandQueue(handle));
  }
}
ROW(clReleaseCommandQueue, CL_INVALID_COMMAND_QUEUE) {
  for (auto handle : b.bad<cl_command_queue>()) {
    b.expect(api.clReleaseCommandQueue(handle));
  }
}
ROW(clGetCommandQueueInfo, CL_INVALID_COMMAND_QUEUE) {
  for (auto handle : b.bad<cl_command_queue>()) {
    b.expect(api.clGetCommandQueueInfo(handle, CL_QUEUE_CONTEXT, 0, nullptr, nullptr));
  }
  b.expect(api.clGetCommandQueueInfo(b.queue, CL_QUEUE_SIZE, 0, nullptr, nullptr)); // a queue of the host has none
}
ROW(clGetCommandQueueInfo, CL_INVALID_VALUE) {
  char small[2];
  b.expect(api.clGetCommandQueueInfo(b.queue, CL_CONTEXT_DEVICES, 0, nullptr, nullptr));
  b.expect(api.clGetCommandQueueInfo(b.queue, CL_QUEUE_DEVICE, sizeof small, small, nullptr));
}
ROW(clFlush, CL_INVALID_COMMAND_QUEUE) {
  for (auto handle : b.bad<cl_command_queue>()) {
    b.expect(api.clFlush(handle));
  }
}
ROW(clFinish, CL_INVALID_COMMAND_QUEUE) {
  for (auto handle : b.bad<cl_command_queue>()) {
    b.expect(api.clFinish(handle));
  }
}
ROW(clFinish, CL_OUT_OF_RESOURCES) {
  EXPECT_EQ(api.clEnqueueFillBuffer(b.queue, b.buffer(), "x", 1, 0, 64, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(api.clFinish(b.queue), CL_SUCCESS); // nothing of earlier queues is under way any more
  b.server.script().with([](Script& script) { script.finish_status = CL_OUT_OF_RESOURCES; });
  EXPECT_EQ(api.clEnqueueFillBuffer(b.queue, b.buffer(), "x", 1, 0, 64, 0, nullptr, nullptr), CL_SUCCESS); // fails unseen
  b.expect(api.clFinish(b.queue));
  EXPECT_EQ(api.clFinish(b.queue), CL_SUCCESS); // told once
}

ROW(clUnloadPlatformCompiler, CL_INVALID_PLATFORM) {
  for (auto handle : b.bad<cl_platform_id>()) {
    b.expect(api.clUnloadPlatformCompiler(handle));
  }
}

} // namespace farcl::test
