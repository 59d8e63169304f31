// Commands. What all of them check (queue, wait list, contexts) is written once and called for each.
#include "tests/driver_api/bench.hpp"

#include <limits>

namespace farcl::test {
namespace {

constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
char host_memory[8192];
constexpr std::size_t kOrigin[3] = {0, 0, 0};
constexpr std::size_t kRegion[3] = {16, 4, 1};

/// The parameters that a row may spoil; the rest of the call is legal.
struct Call {
  cl_command_queue queue = nullptr;
  cl_mem buffer = nullptr;
  cl_uint count = 0;
  const cl_event* events = nullptr;
  cl_bool blocking = CL_FALSE;
};
using Enqueue = std::function<cl_int(Bench& b, const Call& call)>;

Call legal(Bench& b) { return {.queue = b.queue, .buffer = b.buffer()}; }

void bad_queue(Bench& b, const Enqueue& enqueue) {
  for (auto handle : b.bad<cl_command_queue>()) {
    Call call = legal(b);
    call.queue = handle;
    b.expect(enqueue(b, call));
  }
}
void bad_buffer(Bench& b, const Enqueue& enqueue) {
  for (auto handle : b.bad<cl_mem>()) {
    Call call = legal(b);
    call.buffer = handle;
    b.expect(enqueue(b, call));
  }
}
void bad_wait_list(Bench& b, const Enqueue& enqueue) {
  Call call = legal(b);
  call.count = 1;
  b.expect(enqueue(b, call));
  cl_event event = b.complete_event();
  call.count = 0;
  call.events = &event;
  b.expect(enqueue(b, call));
  for (auto handle : b.bad<cl_event>()) {
    cl_event list[] = {event, handle};
    call.count = 2;
    call.events = list;
    b.expect(enqueue(b, call));
  }
}
void foreign_event(Bench& b, const Enqueue& enqueue) {
  cl_event foreign = b.open_event(b.other_context);
  Call call = legal(b);
  call.count = 1;
  call.events = &foreign;
  b.expect(enqueue(b, call));
}
void foreign_buffer(Bench& b, const Enqueue& enqueue) {
  Call call = legal(b);
  call.buffer = b.buffer_in(b.other_context);
  b.expect(enqueue(b, call));
}
void misaligned(Bench& b, const Enqueue& enqueue) {
  Call call{.queue = b.odd_queue, .buffer = b.misaligned_sub_buffer()};
  b.expect(enqueue(b, call));
}
void failed_list(Bench& b, const Enqueue& enqueue) {
  cl_event failed = b.failed_event();
  Call call = legal(b);
  call.count = 1;
  call.events = &failed;
  call.blocking = CL_TRUE;
  b.expect(enqueue(b, call));
}
void no_host_access(Bench& b, const Enqueue& enqueue, cl_mem_flags one_way) {
  for (const cl_mem_flags flags : {one_way, cl_mem_flags{CL_MEM_HOST_NO_ACCESS}}) {
    Call call = legal(b);
    call.buffer = b.buffer(flags);
    b.expect(enqueue(b, call));
  }
}

cl_int read(Bench&, const Call& c) {
  return api.clEnqueueReadBuffer(c.queue, c.buffer, c.blocking, 0, 64, host_memory, c.count, c.events, nullptr);
}
cl_int write(Bench&, const Call& c) {
  return api.clEnqueueWriteBuffer(c.queue, c.buffer, c.blocking, 0, 64, host_memory, c.count, c.events, nullptr);
}
cl_int read_rect(Bench&, const Call& c) {
  return api.clEnqueueReadBufferRect(c.queue, c.buffer, c.blocking, kOrigin, kOrigin, kRegion, 0, 0, 0, 0, host_memory, c.count, c.events,
                                     nullptr);
}
cl_int write_rect(Bench&, const Call& c) {
  return api.clEnqueueWriteBufferRect(c.queue, c.buffer, c.blocking, kOrigin, kOrigin, kRegion, 0, 0, 0, 0, host_memory, c.count, c.events,
                                      nullptr);
}
cl_int copy_from(Bench& b, const Call& c) {
  return api.clEnqueueCopyBuffer(c.queue, c.buffer, b.buffer(), 0, 0, 64, c.count, c.events, nullptr);
}
cl_int copy_to(Bench& b, const Call& c) {
  return api.clEnqueueCopyBuffer(c.queue, b.buffer(), c.buffer, 0, 0, 64, c.count, c.events, nullptr);
}
cl_int copy_rect_from(Bench& b, const Call& c) {
  return api.clEnqueueCopyBufferRect(c.queue, c.buffer, b.buffer(), kOrigin, kOrigin, kRegion, 0, 0, 0, 0, c.count, c.events, nullptr);
}
cl_int copy_rect_to(Bench& b, const Call& c) {
  return api.clEnqueueCopyBufferRect(c.queue, b.buffer(), c.buffer, kOrigin, kOrigin, kRegion, 0, 0, 0, 0, c.count, c.events, nullptr);
}
cl_int fill(Bench&, const Call& c) { return api.clEnqueueFillBuffer(c.queue, c.buffer, host_memory, 4, 0, 64, c.count, c.events, nullptr); }
cl_int map_with(const Call& c, cl_map_flags flags) {
  cl_int code = CL_SUCCESS;
  void* mapped = api.clEnqueueMapBuffer(c.queue, c.buffer, c.blocking, flags, 0, 64, c.count, c.events, nullptr, &code);
  EXPECT_EQ(mapped == nullptr, code != CL_SUCCESS);
  return code;
}
cl_int map(Bench&, const Call& c) { return map_with(c, CL_MAP_READ); }
cl_int map_writing(Bench&, const Call& c) { return map_with(c, CL_MAP_WRITE_INVALIDATE_REGION); }
cl_int unmap(Bench& b, const Call& c) {
  void* mapped = host_memory;
  if (c.buffer != nullptr && c.buffer != reinterpret_cast<cl_mem>(b.devices[kPlain]) && api.clRetainMemObject(c.buffer) == CL_SUCCESS) {
    (void)api.clReleaseMemObject(c.buffer);
    cl_context context = nullptr;
    (void)api.clGetMemObjectInfo(c.buffer, CL_MEM_CONTEXT, sizeof context, &context, nullptr);
    if (context == b.context) {
      mapped = api.clEnqueueMapBuffer(b.queue, c.buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0, nullptr, nullptr, nullptr);
    }
  }
  return api.clEnqueueUnmapMemObject(c.queue, c.buffer, mapped, c.count, c.events, nullptr);
}
cl_int migrate(Bench&, const Call& c) { return api.clEnqueueMigrateMemObjects(c.queue, 1, &c.buffer, 0, c.count, c.events, nullptr); }
cl_int launch(Bench& b, const Call& c) {
  const std::size_t global = 8;
  return api.clEnqueueNDRangeKernel(c.queue, b.ready_kernel(), 1, nullptr, &global, nullptr, c.count, c.events, nullptr);
}
cl_int task(Bench& b, const Call& c) { return api.clEnqueueTask(c.queue, b.ready_kernel(), c.count, c.events, nullptr); }
cl_int marker(Bench&, const Call& c) { return api.clEnqueueMarkerWithWaitList(c.queue, c.count, c.events, nullptr); }
cl_int barrier(Bench&, const Call& c) { return api.clEnqueueBarrierWithWaitList(c.queue, c.count, c.events, nullptr); }

} // namespace

// What the commands on buffers share.
#define BUFFER_COMMAND_ROWS(entry_point, enqueue)                             \
  ROW(entry_point, CL_INVALID_COMMAND_QUEUE) { bad_queue(b, enqueue); }       \
  ROW(entry_point, CL_INVALID_MEM_OBJECT) { bad_buffer(b, enqueue); }         \
  ROW(entry_point, CL_INVALID_EVENT_WAIT_LIST) { bad_wait_list(b, enqueue); } \
  ROW(entry_point, CL_INVALID_CONTEXT) {                                      \
    foreign_buffer(b, enqueue);                                               \
    foreign_event(b, enqueue);                                                \
  }
#define ALIGNMENT_ROW(entry_point, enqueue) \
  ROW(entry_point, CL_MISALIGNED_SUB_BUFFER_OFFSET) { misaligned(b, enqueue); }
#define BLOCKING_ROW(entry_point, enqueue) \
  ROW(entry_point, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) { failed_list(b, enqueue); }

BUFFER_COMMAND_ROWS(clEnqueueReadBuffer, read)
ALIGNMENT_ROW(clEnqueueReadBuffer, read)
BLOCKING_ROW(clEnqueueReadBuffer, read)
ROW(clEnqueueReadBuffer, CL_INVALID_OPERATION) { no_host_access(b, read, CL_MEM_HOST_WRITE_ONLY); }
ROW(clEnqueueReadBuffer, CL_INVALID_VALUE) {
  cl_mem buffer = b.buffer();
  b.expect(api.clEnqueueReadBuffer(b.queue, buffer, CL_FALSE, 0, 64, nullptr, 0, nullptr, nullptr));
  b.expect(api.clEnqueueReadBuffer(b.queue, buffer, CL_FALSE, 4096, 1, host_memory, 0, nullptr, nullptr));
  b.expect(api.clEnqueueReadBuffer(b.queue, buffer, CL_FALSE, 0, 4097, host_memory, 0, nullptr, nullptr));
  b.expect(api.clEnqueueReadBuffer(b.queue, buffer, CL_FALSE, kHuge, 2, host_memory, 0, nullptr, nullptr));
  EXPECT_EQ(api.clEnqueueReadBuffer(b.queue, buffer, CL_TRUE, 4096, 0, host_memory, 0, nullptr, nullptr), CL_SUCCESS);
}
ROW(clEnqueueReadBuffer, CL_OUT_OF_RESOURCES) {
  b.server.script().with([](Script& script) { script.read_status = CL_OUT_OF_RESOURCES; });
  b.expect(api.clEnqueueReadBuffer(b.queue, b.buffer(), CL_TRUE, 0, 64, host_memory, 0, nullptr, nullptr));
}

BUFFER_COMMAND_ROWS(clEnqueueWriteBuffer, write)
ALIGNMENT_ROW(clEnqueueWriteBuffer, write)
BLOCKING_ROW(clEnqueueWriteBuffer, write)
ROW(clEnqueueWriteBuffer, CL_INVALID_OPERATION) { no_host_access(b, write, CL_MEM_HOST_READ_ONLY); }
ROW(clEnqueueWriteBuffer, CL_INVALID_VALUE) {
  cl_mem buffer = b.buffer();
  b.expect(api.clEnqueueWriteBuffer(b.queue, buffer, CL_FALSE, 0, 64, nullptr, 0, nullptr, nullptr));
  b.expect(api.clEnqueueWriteBuffer(b.queue, buffer, CL_FALSE, 4095, 2, host_memory, 0, nullptr, nullptr));
  b.expect(api.clEnqueueWriteBuffer(b.queue, buffer, CL_FALSE, 16, kHuge, host_memory, 0, nullptr, nullptr));
}

namespace {
/// Spoilt rects of one buffer side; `host` ones are legal.
template <class Rect>
void bad_rects(Bench& b, Rect&& enqueue) {
  const std::size_t empty[3] = {16, 0, 1};
  const std::size_t wide[3] = {4097, 1, 1};
  const std::size_t deep[3] = {16, 16, 17};
  const std::size_t far[3] = {0, kHuge / 8, 0};
  const std::size_t last[3] = {4090, 0, 0};
  b.expect(enqueue(nullptr, kRegion, 0, 0));
  b.expect(enqueue(kOrigin, nullptr, 0, 0));
  b.expect(enqueue(kOrigin, empty, 0, 0));
  b.expect(enqueue(kOrigin, wide, 0, 0));
  b.expect(enqueue(kOrigin, deep, 0, 0));        // ends behind the buffer
  b.expect(enqueue(far, kRegion, 0, 0));         // overflows
  b.expect(enqueue(last, kRegion, 0, 0));        // starts inside, ends outside
  b.expect(enqueue(kOrigin, kRegion, 15, 0));    // row pitch below the width
  b.expect(enqueue(kOrigin, kRegion, 16, 63));   // slice pitch below a slice
  b.expect(enqueue(kOrigin, kRegion, 16, 65));   // no multiple of the row pitch
  b.expect(enqueue(kOrigin, kRegion, kHuge, 0)); // overflows
}
} // namespace

BUFFER_COMMAND_ROWS(clEnqueueReadBufferRect, read_rect)
ALIGNMENT_ROW(clEnqueueReadBufferRect, read_rect)
BLOCKING_ROW(clEnqueueReadBufferRect, read_rect)
ROW(clEnqueueReadBufferRect, CL_INVALID_OPERATION) { no_host_access(b, read_rect, CL_MEM_HOST_WRITE_ONLY); }
ROW(clEnqueueReadBufferRect, CL_INVALID_VALUE) {
  cl_mem buffer = b.buffer();
  bad_rects(b, [&](const std::size_t* origin, const std::size_t* region, std::size_t row, std::size_t slice) {
    return api.clEnqueueReadBufferRect(b.queue, buffer, CL_FALSE, origin, kOrigin, region, row, slice, 0, 0, host_memory, 0, nullptr,
                                       nullptr);
  });
  b.expect(api.clEnqueueReadBufferRect(b.queue, buffer, CL_FALSE, kOrigin, kOrigin, kRegion, 0, 0, 0, 0, nullptr, 0, nullptr, nullptr));
  b.expect(api.clEnqueueReadBufferRect(b.queue, buffer, CL_FALSE, kOrigin, nullptr, kRegion, 0, 0, 0, 0, host_memory, 0, nullptr, nullptr));
  b.expect(
      api.clEnqueueReadBufferRect(b.queue, buffer, CL_FALSE, kOrigin, kOrigin, kRegion, 0, 0, 15, 0, host_memory, 0, nullptr, nullptr));
}
ROW(clEnqueueReadBufferRect, CL_OUT_OF_RESOURCES) {
  b.server.script().with([](Script& script) { script.read_status = CL_OUT_OF_RESOURCES; });
  Call call = legal(b);
  call.blocking = CL_TRUE;
  b.expect(read_rect(b, call));
}

BUFFER_COMMAND_ROWS(clEnqueueWriteBufferRect, write_rect)
ALIGNMENT_ROW(clEnqueueWriteBufferRect, write_rect)
BLOCKING_ROW(clEnqueueWriteBufferRect, write_rect)
ROW(clEnqueueWriteBufferRect, CL_INVALID_OPERATION) { no_host_access(b, write_rect, CL_MEM_HOST_READ_ONLY); }
ROW(clEnqueueWriteBufferRect, CL_INVALID_VALUE) {
  cl_mem buffer = b.buffer();
  bad_rects(b, [&](const std::size_t* origin, const std::size_t* region, std::size_t row, std::size_t slice) {
    return api.clEnqueueWriteBufferRect(b.queue, buffer, CL_FALSE, origin, kOrigin, region, row, slice, 0, 0, host_memory, 0, nullptr,
                                        nullptr);
  });
  b.expect(api.clEnqueueWriteBufferRect(b.queue, buffer, CL_FALSE, kOrigin, kOrigin, kRegion, 0, 0, 0, 0, nullptr, 0, nullptr, nullptr));
}

BUFFER_COMMAND_ROWS(clEnqueueFillBuffer, fill)
ALIGNMENT_ROW(clEnqueueFillBuffer, fill)
ROW(clEnqueueFillBuffer, CL_INVALID_VALUE) {
  cl_mem buffer = b.buffer();
  const auto enqueue = [&](const void* pattern, std::size_t pattern_size, std::size_t offset, std::size_t size) {
    return api.clEnqueueFillBuffer(b.queue, buffer, pattern, pattern_size, offset, size, 0, nullptr, nullptr);
  };
  b.expect(enqueue(nullptr, 4, 0, 64));
  b.expect(enqueue(host_memory, 0, 0, 64));
  b.expect(enqueue(host_memory, 3, 0, 63));
  b.expect(enqueue(host_memory, 256, 0, 256));
  b.expect(enqueue(host_memory, 4, 2, 64));
  b.expect(enqueue(host_memory, 4, 0, 62));
  b.expect(enqueue(host_memory, 4, 4096, 4));
  b.expect(enqueue(host_memory, 4, 0, 4100));
  b.expect(enqueue(host_memory, 4, kHuge - 3, 8));
}

ROW(clEnqueueCopyBuffer, CL_INVALID_COMMAND_QUEUE) { bad_queue(b, copy_from); }
ROW(clEnqueueCopyBuffer, CL_INVALID_MEM_OBJECT) {
  bad_buffer(b, copy_from);
  bad_buffer(b, copy_to);
}
ROW(clEnqueueCopyBuffer, CL_INVALID_CONTEXT) {
  foreign_buffer(b, copy_from);
  foreign_buffer(b, copy_to);
  foreign_event(b, copy_from);
}
ROW(clEnqueueCopyBuffer, CL_MISALIGNED_SUB_BUFFER_OFFSET) {
  misaligned(b, copy_from);
  misaligned(b, copy_to);
}
ROW(clEnqueueCopyBuffer, CL_INVALID_EVENT_WAIT_LIST) { bad_wait_list(b, copy_from); }
ROW(clEnqueueCopyBuffer, CL_INVALID_VALUE) {
  cl_mem from = b.buffer();
  cl_mem to = b.buffer(0, 64);
  b.expect(api.clEnqueueCopyBuffer(b.queue, from, to, 0, 0, 65, 0, nullptr, nullptr));
  b.expect(api.clEnqueueCopyBuffer(b.queue, to, from, 1, 0, 64, 0, nullptr, nullptr));
  b.expect(api.clEnqueueCopyBuffer(b.queue, from, to, 0, kHuge, 2, 0, nullptr, nullptr));
}
ROW(clEnqueueCopyBuffer, CL_MEM_COPY_OVERLAP) {
  cl_mem buffer = b.buffer();
  b.expect(api.clEnqueueCopyBuffer(b.queue, buffer, buffer, 0, 32, 64, 0, nullptr, nullptr));
  b.expect(api.clEnqueueCopyBuffer(b.queue, buffer, buffer, 32, 0, 64, 0, nullptr, nullptr));
  b.expect(api.clEnqueueCopyBuffer(b.queue, buffer, buffer, 0, 0, 64, 0, nullptr, nullptr));
  EXPECT_EQ(api.clEnqueueCopyBuffer(b.queue, buffer, buffer, 0, 64, 64, 0, nullptr, nullptr), CL_SUCCESS);
  const cl_buffer_region first{0, 256};
  const cl_buffer_region second{128, 256};
  cl_mem a = api.clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &first, nullptr);
  cl_mem c = api.clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &second, nullptr);
  b.expect(api.clEnqueueCopyBuffer(b.queue, a, c, 100, 0, 64, 0, nullptr, nullptr));
  EXPECT_EQ(api.clEnqueueCopyBuffer(b.queue, a, c, 0, 0, 128, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseMemObject(a), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseMemObject(c), CL_SUCCESS);
}

ROW(clEnqueueCopyBufferRect, CL_INVALID_COMMAND_QUEUE) { bad_queue(b, copy_rect_from); }
ROW(clEnqueueCopyBufferRect, CL_INVALID_MEM_OBJECT) {
  bad_buffer(b, copy_rect_from);
  bad_buffer(b, copy_rect_to);
}
ROW(clEnqueueCopyBufferRect, CL_INVALID_CONTEXT) {
  foreign_buffer(b, copy_rect_from);
  foreign_buffer(b, copy_rect_to);
  foreign_event(b, copy_rect_from);
}
ROW(clEnqueueCopyBufferRect, CL_MISALIGNED_SUB_BUFFER_OFFSET) {
  misaligned(b, copy_rect_from);
  misaligned(b, copy_rect_to);
}
ROW(clEnqueueCopyBufferRect, CL_INVALID_EVENT_WAIT_LIST) { bad_wait_list(b, copy_rect_from); }
ROW(clEnqueueCopyBufferRect, CL_INVALID_VALUE) {
  cl_mem from = b.buffer();
  cl_mem to = b.buffer();
  bad_rects(b, [&](const std::size_t* origin, const std::size_t* region, std::size_t row, std::size_t slice) {
    return api.clEnqueueCopyBufferRect(b.queue, from, to, origin, kOrigin, region, row, slice, 0, 0, 0, nullptr, nullptr);
  });
  bad_rects(b, [&](const std::size_t* origin, const std::size_t* region, std::size_t row, std::size_t slice) {
    return api.clEnqueueCopyBufferRect(b.queue, from, to, kOrigin, origin, region, 0, 0, row, slice, 0, nullptr, nullptr);
  });
  const std::size_t below[3] = {0, 32, 0}; // within one buffer both sides have the same pitches
  b.expect(api.clEnqueueCopyBufferRect(b.queue, from, from, kOrigin, below, kRegion, 32, 0, 64, 0, 0, nullptr, nullptr));
  b.expect(api.clEnqueueCopyBufferRect(b.queue, from, from, kOrigin, below, kRegion, 32, 128, 32, 256, 0, nullptr, nullptr));
}
ROW(clEnqueueCopyBufferRect, CL_MEM_COPY_OVERLAP) {
  cl_mem buffer = b.buffer();
  const auto enqueue = [&](std::size_t x, std::size_t y, std::size_t z) {
    const std::size_t to[3] = {x, y, z};
    const std::size_t region[3] = {16, 4, 2};
    return api.clEnqueueCopyBufferRect(b.queue, buffer, buffer, kOrigin, to, region, 64, 512, 64, 512, 0, nullptr, nullptr);
  };
  b.expect(enqueue(0, 0, 0));
  b.expect(enqueue(15, 0, 0));
  b.expect(enqueue(0, 3, 0));
  b.expect(enqueue(15, 3, 1));
  EXPECT_EQ(enqueue(16, 0, 0), CL_SUCCESS); // beside each other
  EXPECT_EQ(enqueue(0, 4, 0), CL_SUCCESS);
  EXPECT_EQ(enqueue(0, 0, 2), CL_SUCCESS);
}

BUFFER_COMMAND_ROWS(clEnqueueMapBuffer, map)
ALIGNMENT_ROW(clEnqueueMapBuffer, map)
ROW(clEnqueueMapBuffer, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
  failed_list(b, map);
  failed_list(b, map_writing);
}
ROW(clEnqueueMapBuffer, CL_OUT_OF_RESOURCES) {
  b.server.script().with([](Script& script) { script.read_status = CL_OUT_OF_RESOURCES; });
  cl_mem buffer = b.buffer();
  b.expect_made([&](cl_int* e) { return api.clEnqueueMapBuffer(b.queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0, nullptr, nullptr, e); });
}
ROW(clEnqueueMapBuffer, CL_INVALID_OPERATION) {
  no_host_access(b, map, CL_MEM_HOST_WRITE_ONLY);
  no_host_access(b, map_writing, CL_MEM_HOST_READ_ONLY);
}
ROW(clEnqueueMapBuffer, CL_INVALID_VALUE) {
  cl_mem buffer = b.buffer();
  const auto enqueue = [&](cl_map_flags flags, std::size_t offset, std::size_t size) {
    b.expect_made([&](cl_int* e) { return api.clEnqueueMapBuffer(b.queue, buffer, CL_TRUE, flags, offset, size, 0, nullptr, nullptr, e); });
  };
  enqueue(CL_MAP_READ, 0, 0);
  enqueue(CL_MAP_READ, 4096, 1);
  enqueue(CL_MAP_READ, 1, 4096);
  enqueue(CL_MAP_READ, kHuge, 2);
  enqueue(1 << 10, 0, 64);
  enqueue(CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 64);
}

BUFFER_COMMAND_ROWS(clEnqueueUnmapMemObject, unmap)
ROW(clEnqueueUnmapMemObject, CL_INVALID_VALUE) {
  cl_mem buffer = b.buffer();
  b.expect(api.clEnqueueUnmapMemObject(b.queue, buffer, nullptr, 0, nullptr, nullptr));
  void* mapped = api.clEnqueueMapBuffer(b.queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0, nullptr, nullptr, nullptr);
  b.expect(api.clEnqueueUnmapMemObject(b.queue, buffer, static_cast<char*>(mapped) + 1, 0, nullptr, nullptr));
  b.expect(api.clEnqueueUnmapMemObject(b.queue, b.buffer(), mapped, 0, nullptr, nullptr));
  EXPECT_EQ(api.clEnqueueUnmapMemObject(b.queue, buffer, mapped, 0, nullptr, nullptr), CL_SUCCESS);
  b.expect(api.clEnqueueUnmapMemObject(b.queue, buffer, mapped, 0, nullptr, nullptr)); // not twice
}

BUFFER_COMMAND_ROWS(clEnqueueMigrateMemObjects, migrate)
ROW(clEnqueueMigrateMemObjects, CL_INVALID_VALUE) {
  cl_mem buffer = b.buffer();
  b.expect(api.clEnqueueMigrateMemObjects(b.queue, 0, &buffer, 0, 0, nullptr, nullptr));
  b.expect(api.clEnqueueMigrateMemObjects(b.queue, 1, nullptr, 0, 0, nullptr, nullptr));
  b.expect(api.clEnqueueMigrateMemObjects(b.queue, 1, &buffer, 1 << 10, 0, nullptr, nullptr));
}

// --- Launches ---------------------------------------------------------------------------------------------------------------

namespace {
cl_int ndrange(cl_command_queue queue, cl_kernel kernel, cl_uint dim, std::vector<std::size_t> offset, std::vector<std::size_t> global,
               std::vector<std::size_t> local) {
  const auto data = [](std::vector<std::size_t>& list) { return list.empty() ? nullptr : list.data(); };
  return api.clEnqueueNDRangeKernel(queue, kernel, dim, data(offset), data(global), data(local), 0, nullptr, nullptr);
}
/// A kernel whose program has an executable for `device` only.
cl_kernel kernel_for(Bench& b, std::size_t device) {
  cl_program program = b.binary_program(device);
  EXPECT_EQ(api.clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
  cl_kernel kernel = api.clCreateKernel(program, "simple", nullptr);
  cl_mem out = b.buffer();
  EXPECT_EQ(api.clSetKernelArg(kernel, 0, sizeof out, &out), CL_SUCCESS);
  EXPECT_EQ(api.clSetKernelArg(kernel, 1, 64, nullptr), CL_SUCCESS);
  return kernel;
}
void bad_kernel(Bench& b, const std::function<cl_int(cl_kernel)>& enqueue) {
  for (auto handle : b.bad<cl_kernel>()) {
    b.expect(enqueue(handle));
  }
}
const std::size_t kEight = 8;
cl_int launch_of(Bench& b, cl_kernel kernel) {
  return api.clEnqueueNDRangeKernel(b.queue, kernel, 1, nullptr, &kEight, nullptr, 0, nullptr, nullptr);
}
cl_int task_of(Bench& b, cl_kernel kernel) { return api.clEnqueueTask(b.queue, kernel, 0, nullptr, nullptr); }
} // namespace

ROW(clEnqueueNDRangeKernel, CL_INVALID_COMMAND_QUEUE) { bad_queue(b, launch); }
ROW(clEnqueueNDRangeKernel, CL_INVALID_KERNEL) {
  bad_kernel(b, [&](cl_kernel kernel) { return launch_of(b, kernel); });
}
ROW(clEnqueueNDRangeKernel, CL_INVALID_CONTEXT) {
  b.expect(launch_of(b, b.kernel("simple", b.other_context)));
  foreign_event(b, launch);
}
ROW(clEnqueueNDRangeKernel, CL_INVALID_PROGRAM_EXECUTABLE) {
  b.expect(ndrange(b.odd_queue, b.ready_kernel(), 1, {}, {8}, {})); // the program has three devices, the build was for one
  cl_kernel kernel = kernel_for(b, kOdd);
  b.expect(launch_of(b, kernel));
  EXPECT_EQ(api.clReleaseKernel(kernel), CL_SUCCESS);
}
ROW(clEnqueueNDRangeKernel, CL_INVALID_KERNEL_ARGS) {
  cl_kernel kernel = b.kernel();
  b.expect(launch_of(b, kernel));
  EXPECT_EQ(api.clSetKernelArg(kernel, 1, 64, nullptr), CL_SUCCESS);
  b.expect(launch_of(b, kernel));
}
ROW(clEnqueueNDRangeKernel, CL_INVALID_WORK_DIMENSION) {
  for (const cl_uint dim : {0u, 4u, ~0u}) {
    b.expect(ndrange(b.queue, b.ready_kernel(), dim, {}, {8, 8, 8, 8}, {}));
  }
}
ROW(clEnqueueNDRangeKernel, CL_INVALID_GLOBAL_WORK_SIZE) {
  cl_kernel kernel = kernel_for(b, kOdd);
  b.expect(ndrange(b.odd_queue, kernel, 1, {}, {}, {}));                     // before OpenCL 2.1
  b.expect(ndrange(b.odd_queue, kernel, 2, {}, {8, 0}, {}));                 // before OpenCL 2.1
  b.expect(ndrange(b.odd_queue, kernel, 1, {}, {std::size_t{1} << 32}, {})); // more than the device's size_t holds
  EXPECT_EQ(api.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(ndrange(b.queue, b.ready_kernel(), 1, {}, {}, {}), CL_SUCCESS); // later it is a command that does nothing
  EXPECT_EQ(ndrange(b.queue, b.ready_kernel(), 2, {}, {8, 0}, {}), CL_SUCCESS);
}
ROW(clEnqueueNDRangeKernel, CL_INVALID_GLOBAL_OFFSET) {
  b.expect(ndrange(b.queue, b.ready_kernel(), 1, {kHuge - 3}, {8}, {}));
  b.expect(ndrange(b.queue, b.ready_kernel(), 3, {0, 0, kHuge}, {8, 8, 8}, {}));
}
ROW(clEnqueueNDRangeKernel, CL_INVALID_WORK_GROUP_SIZE) {
  cl_kernel kernel = b.ready_kernel();
  b.expect(ndrange(b.queue, kernel, 1, {}, {10}, {4}));          // not uniform
  b.expect(ndrange(b.queue, kernel, 1, {}, {8}, {0}));           // empty
  b.expect(ndrange(b.queue, kernel, 2, {}, {32, 32}, {32, 32})); // 1024 work-items
  b.expect(ndrange(b.queue, kernel, 3, {}, {8, 8, 8}, {kHuge, kHuge, 2}));
  cl_kernel required = b.ready_kernel("required"); // reqd_work_group_size(8, 1, 1)
  b.expect(ndrange(b.queue, required, 1, {}, {16}, {4}));
  b.expect(ndrange(b.queue, required, 2, {}, {16, 2}, {8, 2}));
  b.expect(ndrange(b.queue, required, 1, {}, {12}, {}));
  EXPECT_EQ(ndrange(b.queue, required, 1, {}, {16}, {8}), CL_SUCCESS);
  EXPECT_EQ(ndrange(b.queue, required, 1, {}, {16}, {}), CL_SUCCESS);
}
ROW(clEnqueueNDRangeKernel, CL_INVALID_WORK_ITEM_SIZE) { b.expect(ndrange(b.queue, b.ready_kernel(), 3, {}, {1, 1, 128}, {1, 1, 128})); }
ROW(clEnqueueNDRangeKernel, CL_OUT_OF_RESOURCES) {
  cl_kernel kernel = b.ready_kernel();
  EXPECT_EQ(api.clSetKernelArg(kernel, 1, kLocalBytes + 1, nullptr), CL_SUCCESS);
  b.expect(launch_of(b, kernel)); // more local memory than there is
  EXPECT_EQ(api.clSetKernelArg(kernel, 1, kLocalBytes, nullptr), CL_SUCCESS);
  EXPECT_EQ(launch_of(b, kernel), CL_SUCCESS);
}
ROW(clEnqueueNDRangeKernel, CL_INVALID_EVENT_WAIT_LIST) { bad_wait_list(b, launch); }

ROW(clEnqueueTask, CL_INVALID_COMMAND_QUEUE) { bad_queue(b, task); }
ROW(clEnqueueTask, CL_INVALID_KERNEL) {
  bad_kernel(b, [&](cl_kernel kernel) { return task_of(b, kernel); });
}
ROW(clEnqueueTask, CL_INVALID_CONTEXT) {
  b.expect(task_of(b, b.kernel("simple", b.other_context)));
  foreign_event(b, task);
}
ROW(clEnqueueTask, CL_INVALID_PROGRAM_EXECUTABLE) {
  cl_kernel kernel = kernel_for(b, kOdd);
  b.expect(task_of(b, kernel));
  EXPECT_EQ(api.clReleaseKernel(kernel), CL_SUCCESS);
}
ROW(clEnqueueTask, CL_INVALID_KERNEL_ARGS) { b.expect(task_of(b, b.kernel())); }
ROW(clEnqueueTask, CL_INVALID_WORK_GROUP_SIZE) { b.expect(task_of(b, b.ready_kernel("required"))); }
ROW(clEnqueueTask, CL_INVALID_EVENT_WAIT_LIST) { bad_wait_list(b, task); }

// --- Markers and barriers ---------------------------------------------------------------------------------------------------

ROW(clEnqueueMarkerWithWaitList, CL_INVALID_COMMAND_QUEUE) { bad_queue(b, marker); }
ROW(clEnqueueMarkerWithWaitList, CL_INVALID_EVENT_WAIT_LIST) { bad_wait_list(b, marker); }
ROW(clEnqueueMarkerWithWaitList, CL_INVALID_CONTEXT) { foreign_event(b, marker); }
ROW(clEnqueueBarrierWithWaitList, CL_INVALID_COMMAND_QUEUE) { bad_queue(b, barrier); }
ROW(clEnqueueBarrierWithWaitList, CL_INVALID_EVENT_WAIT_LIST) { bad_wait_list(b, barrier); }
ROW(clEnqueueBarrierWithWaitList, CL_INVALID_CONTEXT) { foreign_event(b, barrier); }

ROW(clEnqueueMarker, CL_INVALID_COMMAND_QUEUE) {
  cl_event event = nullptr;
  for (auto handle : b.bad<cl_command_queue>()) {
    b.expect(api.clEnqueueMarker(handle, &event));
  }
}
ROW(clEnqueueMarker, CL_INVALID_VALUE) { b.expect(api.clEnqueueMarker(b.queue, nullptr)); }
ROW(clEnqueueBarrier, CL_INVALID_COMMAND_QUEUE) {
  for (auto handle : b.bad<cl_command_queue>()) {
    b.expect(api.clEnqueueBarrier(handle));
  }
}
ROW(clEnqueueWaitForEvents, CL_INVALID_COMMAND_QUEUE) {
  cl_event event = b.complete_event();
  for (auto handle : b.bad<cl_command_queue>()) {
    b.expect(api.clEnqueueWaitForEvents(handle, 1, &event));
  }
}
ROW(clEnqueueWaitForEvents, CL_INVALID_VALUE) {
  cl_event event = b.complete_event();
  b.expect(api.clEnqueueWaitForEvents(b.queue, 0, &event));
  b.expect(api.clEnqueueWaitForEvents(b.queue, 1, nullptr));
}
ROW(clEnqueueWaitForEvents, CL_INVALID_EVENT) {
  for (auto handle : b.bad<cl_event>()) {
    b.expect(api.clEnqueueWaitForEvents(b.queue, 1, &handle));
  }
}
ROW(clEnqueueWaitForEvents, CL_INVALID_CONTEXT) {
  cl_event foreign = b.open_event(b.other_context);
  b.expect(api.clEnqueueWaitForEvents(b.queue, 1, &foreign));
}

} // namespace farcl::test
