// Buffers, events.
#include "tests/driver_api/bench.hpp"

#include <limits>

namespace farcl::test {
namespace {

char host_memory[4096];
void CL_CALLBACK ignore_memory(cl_mem, void*) {}
void CL_CALLBACK ignore_event(cl_event, cl_int, void*) {}

using CreateBuffer = std::function<cl_mem(cl_mem_flags flags, std::size_t size, void* host_ptr, cl_int* e)>;

/// Both ways to make a buffer check the same.
void bad_buffer_flags(Bench& b, const CreateBuffer& create) {
  const cl_mem_flags bad[] = {cl_mem_flags{1} << 40,
                              CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                              CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
                              CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
                              CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
                              CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
                              CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS};
  for (const cl_mem_flags flags : bad) {
    b.expect_made([&](cl_int* e) { return create(flags, 64, host_memory, e); });
  }
}
void bad_buffer_sizes(Bench& b, const CreateBuffer& create) {
  for (const std::size_t size : {std::size_t{0}, kMaxAlloc + 1, std::numeric_limits<std::size_t>::max()}) {
    b.expect_made([&](cl_int* e) { return create(0, size, nullptr, e); });
  }
}
void bad_host_pointers(Bench& b, const CreateBuffer& create) {
  b.expect_made([&](cl_int* e) { return create(CL_MEM_USE_HOST_PTR, 64, nullptr, e); });
  b.expect_made([&](cl_int* e) { return create(CL_MEM_COPY_HOST_PTR, 64, nullptr, e); });
  b.expect_made([&](cl_int* e) { return create(0, 64, host_memory, e); });
  b.expect_made([&](cl_int* e) { return create(CL_MEM_ALLOC_HOST_PTR, 64, host_memory, e); });
}

CreateBuffer plain(cl_context context) {
  return [=](cl_mem_flags flags, std::size_t size, void* host_ptr, cl_int* e) {
    return api.clCreateBuffer(context, flags, size, host_ptr, e);
  };
}
CreateBuffer with_properties(cl_context context, const cl_mem_properties* properties = nullptr) {
  return [=](cl_mem_flags flags, std::size_t size, void* host_ptr, cl_int* e) {
    return api.clCreateBufferWithProperties(context, properties, flags, size, host_ptr, e);
  };
}

} // namespace

ROW(clCreateBuffer, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect_made([&](cl_int* e) { return plain(handle)(0, 64, nullptr, e); });
  }
}
ROW(clCreateBuffer, CL_INVALID_VALUE) { bad_buffer_flags(b, plain(b.context)); }
ROW(clCreateBuffer, CL_INVALID_BUFFER_SIZE) { bad_buffer_sizes(b, plain(b.context)); }
ROW(clCreateBuffer, CL_INVALID_HOST_PTR) { bad_host_pointers(b, plain(b.context)); }

ROW(clCreateBufferWithProperties, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect_made([&](cl_int* e) { return with_properties(handle)(0, 64, nullptr, e); });
  }
}
ROW(clCreateBufferWithProperties, CL_INVALID_PROPERTY) {
  const cl_mem_properties unknown[] = {0x7777, 1, 0};
  b.expect_made([&](cl_int* e) { return with_properties(b.context, unknown)(0, 64, nullptr, e); });
}
ROW(clCreateBufferWithProperties, CL_INVALID_VALUE) { bad_buffer_flags(b, with_properties(b.context)); }
ROW(clCreateBufferWithProperties, CL_INVALID_BUFFER_SIZE) { bad_buffer_sizes(b, with_properties(b.context)); }
ROW(clCreateBufferWithProperties, CL_INVALID_HOST_PTR) { bad_host_pointers(b, with_properties(b.context)); }

namespace {
cl_mem sub_buffer(cl_mem parent, cl_mem_flags flags, std::size_t origin, std::size_t size, cl_int* e) {
  const cl_buffer_region region{origin, size};
  return api.clCreateSubBuffer(parent, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, e);
}
} // namespace

ROW(clCreateSubBuffer, CL_INVALID_MEM_OBJECT) {
  for (auto handle : b.bad<cl_mem>()) {
    b.expect_made([&](cl_int* e) { return sub_buffer(handle, 0, 0, 64, e); });
  }
  b.expect_made([&](cl_int* e) { return sub_buffer(b.misaligned_sub_buffer(), 0, 0, 64, e); }); // a sub-buffer has none
}
ROW(clCreateSubBuffer, CL_INVALID_VALUE) {
  const std::pair<cl_mem_flags, cl_mem_flags> conflicts[] = {{CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE},
                                                             {CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY},
                                                             {CL_MEM_READ_ONLY, CL_MEM_READ_WRITE},
                                                             {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY},
                                                             {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY},
                                                             {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY},
                                                             {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY},
                                                             {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_WRITE_ONLY},
                                                             {0, CL_MEM_USE_HOST_PTR},
                                                             {0, CL_MEM_ALLOC_HOST_PTR},
                                                             {0, CL_MEM_COPY_HOST_PTR},
                                                             {0, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY}};
  for (const auto& [parent, flags] : conflicts) {
    cl_mem buffer = b.buffer(parent);
    b.expect_made([&, flags = flags](cl_int* e) { return sub_buffer(buffer, flags, 0, 64, e); });
  }
  cl_mem buffer = b.buffer();
  const cl_buffer_region region{0, 64};
  b.expect_made([&](cl_int* e) { return api.clCreateSubBuffer(buffer, 0, 0x7777, &region, e); });
  b.expect_made([&](cl_int* e) { return api.clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, nullptr, e); });
  b.expect_made([&](cl_int* e) { return sub_buffer(buffer, 0, 4096, 64, e); });
  b.expect_made([&](cl_int* e) { return sub_buffer(buffer, 0, 4032, 65, e); });
  b.expect_made([&](cl_int* e) { return sub_buffer(buffer, 0, std::numeric_limits<std::size_t>::max(), 64, e); });
}
ROW(clCreateSubBuffer, CL_INVALID_BUFFER_SIZE) {
  b.expect_made([&](cl_int* e) { return sub_buffer(b.buffer(), 0, 0, 0, e); });
}
ROW(clCreateSubBuffer, CL_MISALIGNED_SUB_BUFFER_OFFSET) {
  b.expect_made([&](cl_int* e) { return sub_buffer(b.buffer(), 0, 64, 64, e); });
}

ROW(clRetainMemObject, CL_INVALID_MEM_OBJECT) {
  for (auto handle : b.bad<cl_mem>()) {
    b.expect(api.clRetainMemObject(handle));
  }
}
ROW(clReleaseMemObject, CL_INVALID_MEM_OBJECT) {
  for (auto handle : b.bad<cl_mem>()) {
    b.expect(api.clReleaseMemObject(handle));
  }
  cl_mem twice = api.clCreateBuffer(b.context, 0, 64, nullptr, nullptr);
  EXPECT_EQ(api.clReleaseMemObject(twice), CL_SUCCESS);
  b.expect(api.clReleaseMemObject(twice));
}
ROW(clGetMemObjectInfo, CL_INVALID_MEM_OBJECT) {
  for (auto handle : b.bad<cl_mem>()) {
    b.expect(api.clGetMemObjectInfo(handle, CL_MEM_SIZE, 0, nullptr, nullptr));
  }
}
ROW(clGetMemObjectInfo, CL_INVALID_VALUE) {
  char small[3];
  b.expect(api.clGetMemObjectInfo(b.buffer(), CL_KERNEL_CONTEXT, 0, nullptr, nullptr));
  b.expect(api.clGetMemObjectInfo(b.buffer(), CL_MEM_SIZE, sizeof small, small, nullptr));
}
ROW(clSetMemObjectDestructorCallback, CL_INVALID_MEM_OBJECT) {
  for (auto handle : b.bad<cl_mem>()) {
    b.expect(api.clSetMemObjectDestructorCallback(handle, ignore_memory, nullptr));
  }
}
ROW(clSetMemObjectDestructorCallback, CL_INVALID_VALUE) { b.expect(api.clSetMemObjectDestructorCallback(b.buffer(), nullptr, nullptr)); }

// --- Events -----------------------------------------------------------------------------------------------------------------

ROW(clCreateUserEvent, CL_INVALID_CONTEXT) {
  for (auto handle : b.bad<cl_context>()) {
    b.expect_made([&](cl_int* e) { return api.clCreateUserEvent(handle, e); });
  }
}
ROW(clSetUserEventStatus, CL_INVALID_EVENT) {
  for (auto handle : b.bad<cl_event>()) {
    b.expect(api.clSetUserEventStatus(handle, CL_COMPLETE));
  }
  b.expect(api.clSetUserEventStatus(b.profiled_event(), CL_COMPLETE)); // a command's
}
ROW(clSetUserEventStatus, CL_INVALID_VALUE) {
  for (const cl_int status : {CL_RUNNING, CL_SUBMITTED, CL_QUEUED, 17}) {
    b.expect(api.clSetUserEventStatus(b.open_event(), status));
  }
}
ROW(clSetUserEventStatus, CL_INVALID_OPERATION) {
  b.expect(api.clSetUserEventStatus(b.complete_event(), CL_COMPLETE));
  b.expect(api.clSetUserEventStatus(b.failed_event(), -7));
}
ROW(clRetainEvent, CL_INVALID_EVENT) {
  for (auto handle : b.bad<cl_event>()) {
    b.expect(api.clRetainEvent(handle));
  }
}
ROW(clReleaseEvent, CL_INVALID_EVENT) {
  for (auto handle : b.bad<cl_event>()) {
    b.expect(api.clReleaseEvent(handle));
  }
}
ROW(clGetEventInfo, CL_INVALID_EVENT) {
  for (auto handle : b.bad<cl_event>()) {
    b.expect(api.clGetEventInfo(handle, CL_EVENT_CONTEXT, 0, nullptr, nullptr));
  }
}
ROW(clGetEventInfo, CL_INVALID_VALUE) {
  char small[1];
  b.expect(api.clGetEventInfo(b.open_event(), CL_MEM_SIZE, 0, nullptr, nullptr));
  b.expect(api.clGetEventInfo(b.open_event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof small, small, nullptr));
}
ROW(clGetEventProfilingInfo, CL_INVALID_EVENT) {
  for (auto handle : b.bad<cl_event>()) {
    b.expect(api.clGetEventProfilingInfo(handle, CL_PROFILING_COMMAND_START, 0, nullptr, nullptr));
  }
}
ROW(clGetEventProfilingInfo, CL_PROFILING_INFO_NOT_AVAILABLE) {
  b.expect(api.clGetEventProfilingInfo(b.complete_event(), CL_PROFILING_COMMAND_START, 0, nullptr, nullptr));
  cl_event event = nullptr; // of a queue without profiling
  EXPECT_EQ(api.clEnqueueMarkerWithWaitList(b.queue, 0, nullptr, &event), CL_SUCCESS);
  EXPECT_EQ(api.clWaitForEvents(1, &event), CL_SUCCESS);
  b.expect(api.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, 0, nullptr, nullptr));
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
  cl_event open = b.open_event(); // not complete
  EXPECT_EQ(api.clEnqueueMarkerWithWaitList(b.profiling_queue, 1, &open, &event), CL_SUCCESS);
  b.expect(api.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, 0, nullptr, nullptr));
  EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
}
ROW(clGetEventProfilingInfo, CL_INVALID_VALUE) {
  char small[1];
  cl_event event = b.profiled_event();
  b.expect(api.clGetEventProfilingInfo(event, CL_EVENT_CONTEXT, 0, nullptr, nullptr));
  b.expect(api.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof small, small, nullptr));
}
ROW(clSetEventCallback, CL_INVALID_EVENT) {
  for (auto handle : b.bad<cl_event>()) {
    b.expect(api.clSetEventCallback(handle, CL_COMPLETE, ignore_event, nullptr));
  }
}
ROW(clSetEventCallback, CL_INVALID_VALUE) {
  b.expect(api.clSetEventCallback(b.open_event(), CL_COMPLETE, nullptr, nullptr));
  b.expect(api.clSetEventCallback(b.open_event(), CL_QUEUED, ignore_event, nullptr));
  b.expect(api.clSetEventCallback(b.open_event(), -1, ignore_event, nullptr));
}
ROW(clWaitForEvents, CL_INVALID_VALUE) {
  cl_event event = b.complete_event();
  b.expect(api.clWaitForEvents(0, &event));
  b.expect(api.clWaitForEvents(1, nullptr));
}
ROW(clWaitForEvents, CL_INVALID_EVENT) {
  for (auto handle : b.bad<cl_event>()) {
    cl_event list[] = {b.complete_event(), handle};
    b.expect(api.clWaitForEvents(2, list));
  }
}
ROW(clWaitForEvents, CL_INVALID_CONTEXT) {
  cl_event list[] = {b.complete_event(), b.open_event(b.other_context)};
  b.expect(api.clWaitForEvents(2, list));
}
ROW(clWaitForEvents, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
  cl_event list[] = {b.complete_event(), b.failed_event()};
  b.expect(api.clWaitForEvents(2, list));
}

} // namespace farcl::test
