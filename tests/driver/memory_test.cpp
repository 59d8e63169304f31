#include "driver/session/callback_thread.hpp"
#include "fixture.hpp"

#include <cstring>
#include <numeric>
#include <random>

namespace farcl::test {
namespace {

std::vector<std::uint32_t> noise(std::size_t words, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> out(words);
  std::generate(out.begin(), out.end(), random);
  return out;
}

TEST(Memory, WritesAndReadsOfEverySizeClass) {
  start_server();
  Client client;
  for (std::size_t words : {1u, 100u, 8192u, 8193u, 65536u, 65537u, 1u << 20}) {
    const auto data = noise(words);
    cl_mem buffer = client.buffer(words * 4);
    client.write(buffer, data.data(), words * 4);
    EXPECT_EQ(client.read(buffer, words), data) << words;
    const auto other = noise(words, 2);
    cl_event event = client.write(buffer, other.data(), words * 4, false);
    std::vector<std::uint32_t> back(words);
    cl_event read = nullptr;
    EXPECT_EQ(api.clEnqueueReadBuffer(client.queue, buffer, CL_FALSE, 0, words * 4, back.data(), 1, &event, &read), CL_SUCCESS);
    EXPECT_EQ(api.clWaitForEvents(1, &read), CL_SUCCESS);
    EXPECT_EQ(back, other) << words;
    EXPECT_EQ(api.clReleaseEvent(event), CL_SUCCESS);
    EXPECT_EQ(api.clReleaseEvent(read), CL_SUCCESS);
  }
}

TEST(Memory, ABlockingWriteHasTakenTheBytes) {
  start_server();
  Client client;
  for (std::size_t words : {64u, 60000u, 200000u}) {
    auto data = noise(words);
    const auto before = data;
    cl_mem buffer = client.buffer(words * 4);
    client.write(buffer, data.data(), words * 4);
    std::fill(data.begin(), data.end(), 0);
    EXPECT_EQ(client.read(buffer, words), before);
  }
}

TEST(Memory, InitialContents) {
  start_server();
  Client client;
  for (std::size_t words : {10u, 20000u, 2u << 20}) {
    auto data = noise(words);
    const auto before = data;
    cl_mem buffer = client.buffer(words * 4, CL_MEM_COPY_HOST_PTR, data.data());
    std::fill(data.begin(), data.end(), 0);
    EXPECT_EQ(client.read(buffer, words), before);
  }
}

TEST(Memory, DataPassedOnThroughHostMemoryIsSentOnlyWhenItIsThere) {
  start_server();
  Client client(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  for (std::size_t words : {16u, 40000u}) {
    const auto data = noise(words);
    cl_mem from = client.buffer(words * 4, CL_MEM_COPY_HOST_PTR, const_cast<std::uint32_t*>(data.data()));
    cl_mem to = client.buffer(words * 4);
    std::vector<std::uint32_t> host(words);
    cl_event gate = api.clCreateUserEvent(client.context, nullptr);
    cl_event read = nullptr;
    cl_event write = nullptr;
    EXPECT_EQ(api.clEnqueueReadBuffer(client.queue, from, CL_FALSE, 0, words * 4, host.data(), 1, &gate, &read), CL_SUCCESS);
    EXPECT_EQ(api.clEnqueueWriteBuffer(client.queue, to, CL_FALSE, 0, words * 4, host.data(), 1, &read, &write), CL_SUCCESS);
    EXPECT_EQ(api.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    EXPECT_EQ(api.clWaitForEvents(1, &write), CL_SUCCESS);
    EXPECT_EQ(client.read(to, words), data);
    for (cl_event one : {gate, read, write}) {
      EXPECT_EQ(api.clReleaseEvent(one), CL_SUCCESS);
    }
  }
}

TEST(Memory, Rectangles) {
  start_server();
  Client client;
  const auto data = noise(64 * 64 * 4);
  cl_mem buffer = client.buffer(data.size() * 4);
  client.write(buffer, data.data(), data.size() * 4);
  for (std::size_t height : {3u, 60u}) { // inline and bulk
    const std::size_t buffer_origin[] = {8, 2, 1};
    const std::size_t host_origin[] = {4, 1, 1};
    const std::size_t region[] = {200, height, 3};
    std::vector<std::uint32_t> host(80 * 64 * 4, 0xabababab);
    EXPECT_EQ(api.clEnqueueReadBufferRect(client.queue, buffer, CL_TRUE, buffer_origin, host_origin, region, 256, 64 * 256, 320, 320 * 64,
                                          host.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    std::size_t touched = 0;
    for (std::size_t z = 0; z < 3; ++z) {
      for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < 50; ++x) {
          const std::uint32_t got = host[(z + 1) * 80 * 64 + (y + 1) * 80 + 1 + x];
          ASSERT_EQ(got, data[(z + 1) * 64 * 64 + (y + 2) * 64 + 2 + x]);
          ++touched;
        }
      }
    }
    EXPECT_EQ(static_cast<std::size_t>(std::count(host.begin(), host.end(), 0xabababab)), host.size() - touched);
    // And back, into another buffer, so that every byte's place is checked.
    cl_mem copy = client.buffer(data.size() * 4, CL_MEM_COPY_HOST_PTR, const_cast<std::uint32_t*>(data.data()));
    EXPECT_EQ(api.clEnqueueWriteBufferRect(client.queue, copy, CL_FALSE, buffer_origin, host_origin, region, 256, 64 * 256, 320, 320 * 64,
                                           host.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(client.read(copy, data.size()), data);
  }
}

TEST(Memory, MapsFetchAndUnmapsSend) {
  FakeServer& server = start_server();
  Client client;
  const auto data = noise(50000);
  cl_mem buffer = client.buffer(data.size() * 4);
  client.write(buffer, data.data(), data.size() * 4);
  cl_int code = 0;
  auto* all = static_cast<std::uint32_t*>(
      api.clEnqueueMapBuffer(client.queue, buffer, CL_TRUE, CL_MAP_READ, 0, data.size() * 4, 0, nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(all) % 128, 0u);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), all));
  auto* part =
      static_cast<std::uint32_t*>(api.clEnqueueMapBuffer(client.queue, buffer, CL_TRUE, CL_MAP_WRITE, 400, 80, 0, nullptr, nullptr, &code));
  EXPECT_EQ(part, all + 100); // the same byte has one address
  cl_uint count = 0;
  EXPECT_EQ(api.clGetMemObjectInfo(buffer, CL_MEM_MAP_COUNT, sizeof count, &count, nullptr), CL_SUCCESS);
  EXPECT_EQ(count, 2u);
  const std::uint64_t before = server.to_server->bytes;
  EXPECT_EQ(api.clEnqueueUnmapMemObject(client.queue, buffer, all, 0, nullptr, nullptr), CL_SUCCESS);
  std::fill(part, part + 20, 5u);
  EXPECT_EQ(api.clEnqueueUnmapMemObject(client.queue, buffer, part, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(api.clEnqueueUnmapMemObject(client.queue, buffer, part, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  EXPECT_LT(server.to_server->bytes - before, 2000u); // only what was mapped for writing
  auto expected = data;
  std::fill_n(expected.begin() + 100, 20, 5u);
  EXPECT_EQ(client.read(buffer, data.size()), expected);
}

TEST(Memory, AMapForOverwritingFetchesNothing) {
  FakeServer& server = start_server();
  Client client;
  const std::size_t words = 100000;
  cl_mem buffer = client.buffer(words * 4, CL_MEM_ALLOC_HOST_PTR);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  const std::uint64_t before = server.to_client->bytes;
  auto* all = static_cast<std::uint32_t*>(
      api.clEnqueueMapBuffer(client.queue, buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, words * 4, 0, nullptr, nullptr, nullptr));
  std::iota(all, all + words, 0u);
  EXPECT_EQ(api.clEnqueueUnmapMemObject(client.queue, buffer, all, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(api.clFinish(client.queue), CL_SUCCESS);
  EXPECT_LT(server.to_client->bytes - before, 2000u);
  std::vector<std::uint32_t> expected(words);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(client.read(buffer, words), expected);
}

TEST(Memory, UseHostPtrMapsToTheProgramsMemory) {
  start_server();
  Client client;
  for (std::size_t words : {16u, 100000u}) {
    auto host = noise(words);
    auto expected = host;
    cl_mem buffer = client.buffer(words * 4, CL_MEM_USE_HOST_PTR, host.data());
    client.bump(buffer, 7);
    void* mapped =
        api.clEnqueueMapBuffer(client.queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, words * 4, 0, nullptr, nullptr, nullptr);
    EXPECT_EQ(mapped, host.data());
    for (auto& word : expected) {
      word += 7;
    }
    EXPECT_EQ(host, expected);
    host[3] = expected[3] = 1;
    EXPECT_EQ(api.clEnqueueUnmapMemObject(client.queue, buffer, mapped, 0, nullptr, nullptr), CL_SUCCESS);
    EXPECT_EQ(client.read(buffer, words), expected);
  }
}

TEST(Memory, SubBuffersShareTheBytes) {
  start_server();
  Client client;
  auto data = noise(1024);
  cl_mem buffer = client.buffer(4096, CL_MEM_COPY_HOST_PTR, data.data());
  const cl_buffer_region region{1024, 512};
  cl_int code = 0;
  cl_mem sub = api.clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  client.bump(sub, 9);
  for (std::size_t i = 256; i < 384; ++i) {
    data[i] += 9;
  }
  EXPECT_EQ(client.read(buffer, 1024), data);
  EXPECT_EQ(client.read(sub, 128), std::vector<std::uint32_t>(data.begin() + 256, data.begin() + 384));
  EXPECT_EQ(api.clReleaseMemObject(sub), CL_SUCCESS);
}

TEST(Memory, CopiesAndFills) {
  start_server();
  Client client;
  cl_mem a = client.buffer(400);
  cl_mem b = client.buffer(400);
  const std::uint32_t pattern = 0x01020304;
  EXPECT_EQ(api.clEnqueueFillBuffer(client.queue, a, &pattern, 4, 0, 400, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(api.clEnqueueCopyBuffer(client.queue, a, b, 0, 200, 100, 0, nullptr, nullptr), CL_SUCCESS);
  std::vector<std::uint32_t> expected(100);
  std::fill_n(expected.begin() + 50, 25, pattern);
  EXPECT_EQ(client.read(b, 100), expected);
}

TEST(Memory, DestructorCallbacksRunNewestFirst) {
  start_server();
  Client client;
  static std::vector<int> order;
  order.clear();
  cl_mem buffer = api.clCreateBuffer(client.context, 0, 64, nullptr, nullptr);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(api.clSetMemObjectDestructorCallback(
                  buffer, [](cl_mem, void* index) { order.push_back(static_cast<int>(reinterpret_cast<std::intptr_t>(index))); },
                  reinterpret_cast<void*>(static_cast<std::intptr_t>(i))),
              CL_SUCCESS);
  }
  EXPECT_EQ(api.clReleaseMemObject(buffer), CL_SUCCESS);
  driver::wait_for_callbacks();
  EXPECT_EQ(order, (std::vector<int>{2, 1, 0}));
}

} // namespace
} // namespace farcl::test
