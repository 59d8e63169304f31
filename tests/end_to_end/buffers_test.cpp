// Buffers of every kind and every way to move their bytes, compared with the same done in host memory.
#include "support/cl_fixture.hpp"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>

namespace farcl::end_to_end {
namespace {

using Bytes = std::vector<std::uint8_t>;

class Buffers : public ClTest {
protected:
  static Bytes random_bytes(std::size_t size, unsigned seed = 1) {
    std::mt19937 random(seed);
    Bytes bytes(size);
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(random());
    }
    return bytes;
  }
  // Adds one to each of `count` ints on the device.
  void increment(const cl::Buffer& buffer, std::size_t count) {
    static constexpr const char* kSource = "__kernel void inc(__global int *x) { x[get_global_id(0)] += 1; }";
    cl::Kernel kernel(build(kSource), "inc");
    kernel.setArg(0, buffer);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(count));
  }
};

TEST_F(Buffers, WritesAndReadsOfEverySizeAroundTheLimits) {
  for (std::size_t size : {1UL, 3UL, 4096UL, 32767UL, 32768UL, 32769UL, 262143UL, 262144UL, 262145UL, 1UL << 20, (16UL << 20) + 5}) {
    SCOPED_TRACE(size);
    const Bytes bytes = random_bytes(size, static_cast<unsigned>(size));
    const cl::Buffer buffer(context, CL_MEM_READ_WRITE, size);
    queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, size, bytes.data());
    ASSERT_EQ(download<std::uint8_t>(buffer, size), bytes);
  }
}

TEST_F(Buffers, ABlockingWriteHasTakenTheBytes) {
  for (std::size_t size : {100UL, 100000UL, 5000000UL}) {
    SCOPED_TRACE(size);
    const Bytes bytes = random_bytes(size);
    Bytes source = bytes;
    const cl::Buffer buffer(context, CL_MEM_READ_WRITE, size);
    queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, size, source.data());
    std::fill(source.begin(), source.end(), 0xEE);
    ASSERT_EQ(download<std::uint8_t>(buffer, size), bytes);
  }
}

TEST_F(Buffers, PartsAtOffsets) {
  Bytes expected = random_bytes(100000);
  cl::Buffer buffer = upload(expected);
  const Bytes patch = random_bytes(3333, 2);
  queue.enqueueWriteBuffer(buffer, CL_FALSE, 777, patch.size(), patch.data());
  std::copy(patch.begin(), patch.end(), expected.begin() + 777);
  Bytes part(5000);
  queue.enqueueReadBuffer(buffer, CL_TRUE, 500, part.size(), part.data());
  EXPECT_EQ(part, Bytes(expected.begin() + 500, expected.begin() + 5500));
  EXPECT_EQ(download<std::uint8_t>(buffer, expected.size()), expected);
}

TEST_F(Buffers, CopyHostPtrTakesTheBytesAtOnce) {
  std::vector<int> values(5000);
  std::iota(values.begin(), values.end(), 0);
  const std::vector<int> kept = values;
  const cl::Buffer buffer = upload(values, CL_MEM_READ_ONLY);
  std::fill(values.begin(), values.end(), -1);
  EXPECT_EQ(download<int>(buffer, kept.size()), kept);
}

TEST_F(Buffers, UseHostPtrMapsToTheHostPointer) {
  std::vector<int> memory(4096);
  std::iota(memory.begin(), memory.end(), 0);
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, memory.size() * 4, memory.data());
  increment(buffer, memory.size());
  void* mapped = queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 400, 4000);
  EXPECT_EQ(mapped, memory.data() + 100);
  for (int i = 100; i < 1100; ++i) {
    ASSERT_EQ(memory[static_cast<std::size_t>(i)], i + 1);
  }
  memory[100] = 5000;
  queue.enqueueUnmapMemObject(buffer, mapped);
  increment(buffer, memory.size());
  const std::vector<int> got = download<int>(buffer, memory.size());
  EXPECT_EQ(got[100], 5001);
  EXPECT_EQ(got[101], 103);
  EXPECT_EQ(got[4095], 4097);
}

TEST_F(Buffers, AllocHostPtrIsAnOrdinaryBuffer) {
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, 40000);
  auto* mapped = static_cast<int*>(queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 40000));
  std::iota(mapped, mapped + 10000, 7);
  queue.enqueueUnmapMemObject(buffer, mapped);
  increment(buffer, 10000);
  std::vector<int> expected(10000);
  std::iota(expected.begin(), expected.end(), 8);
  EXPECT_EQ(download<int>(buffer, 10000), expected);
}

TEST_F(Buffers, MapsOfPartsSideBySide) {
  std::vector<int> values(10000);
  std::iota(values.begin(), values.end(), 0);
  cl::Buffer buffer = upload(values);
  cl::Event first_done;
  auto* first = static_cast<int*>(queue.enqueueMapBuffer(buffer, CL_FALSE, CL_MAP_WRITE, 0, 4000, nullptr, &first_done));
  auto* second = static_cast<int*>(queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ, 8000, 4000));
  first_done.wait();
  EXPECT_EQ(second[0], 2000);
  EXPECT_EQ(first[999], 999);
  first[0] = -1;
  queue.enqueueUnmapMemObject(buffer, second);
  queue.enqueueUnmapMemObject(buffer, first);
  values[0] = -1;
  EXPECT_EQ(download<int>(buffer, values.size()), values);
}

TEST_F(Buffers, RectanglesBetweenHostAndDevice) {
  constexpr std::size_t kRow = 64, kRows = 20, kSlices = 4;
  const Bytes before = random_bytes(kRow * kRows * kSlices);
  const Bytes host = random_bytes(50 * 10 * 3, 9);
  cl::Buffer buffer = upload(before);
  const std::array<cl::size_type, 3> buffer_origin{5, 3, 1}, host_origin{2, 1, 0}, region{17, 6, 2};
  queue.enqueueWriteBufferRect(buffer, CL_TRUE, buffer_origin, host_origin, region, kRow, kRow * kRows, 50, 500, host.data());
  Bytes expected = before;
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 6; ++y) {
      std::memcpy(&expected[((1 + z) * kRows + 3 + y) * kRow + 5], &host[(z * 10 + 1 + y) * 50 + 2], 17);
    }
  }
  EXPECT_EQ(download<std::uint8_t>(buffer, expected.size()), expected);

  Bytes read(50 * 10 * 3, 0);
  queue.enqueueReadBufferRect(buffer, CL_TRUE, buffer_origin, host_origin, region, kRow, kRow * kRows, 50, 500, read.data());
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 6; ++y) {
      ASSERT_EQ(std::memcmp(&read[(z * 10 + 1 + y) * 50 + 2], &host[(z * 10 + 1 + y) * 50 + 2], 17), 0);
    }
  }
  EXPECT_EQ(read[0], 0);
}

TEST_F(Buffers, CopiesAndRectangularCopiesOnTheDevice) {
  const Bytes source_bytes = random_bytes(4096, 3);
  Bytes expected(4096, 0);
  const cl::Buffer source = upload(source_bytes);
  cl::Buffer target = upload(expected);
  queue.enqueueCopyBuffer(source, target, 100, 200, 300);
  std::copy_n(source_bytes.begin() + 100, 300, expected.begin() + 200);
  queue.enqueueCopyBufferRect(source, target, {1, 2, 0}, {8, 20, 0}, {10, 5, 1}, 32, 0, 64, 0);
  for (std::size_t y = 0; y < 5; ++y) {
    std::memcpy(&expected[(20 + y) * 64 + 8], &source_bytes[(2 + y) * 32 + 1], 10);
  }
  EXPECT_EQ(download<std::uint8_t>(target, 4096), expected);
}

TEST_F(Buffers, FillsWithPatternsOfEverySize) {
  for (std::size_t pattern_size = 1; pattern_size <= 128; pattern_size *= 2) {
    SCOPED_TRACE(pattern_size);
    const Bytes pattern = random_bytes(pattern_size, static_cast<unsigned>(pattern_size));
    Bytes expected(1024, 0);
    cl::Buffer buffer = upload(expected);
    ASSERT_EQ(clEnqueueFillBuffer(queue(), buffer(), pattern.data(), pattern_size, 256, 512, 0, nullptr, nullptr), CL_SUCCESS);
    for (std::size_t i = 0; i < 512; ++i) {
      expected[256 + i] = pattern[i % pattern_size];
    }
    EXPECT_EQ(download<std::uint8_t>(buffer, 1024), expected);
  }
}

TEST_F(Buffers, SubBuffersShareTheBytes) {
  std::vector<int> values(4096, 0);
  cl::Buffer buffer = upload(values);
  const std::size_t alignment = device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
  const cl_buffer_region region{alignment * 2, 1024};
  cl::Buffer part = buffer.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
  increment(part, 256);
  const std::vector<int> patch(16, 50);
  queue.enqueueWriteBuffer(part, CL_TRUE, 64, 64, patch.data());
  increment(part, 256);
  const std::size_t first = alignment * 2 / 4;
  for (std::size_t i = 0; i < 256; ++i) {
    values[first + i] = i >= 16 && i < 32 ? 51 : 2;
  }
  EXPECT_EQ(download<int>(buffer, values.size()), values);
  EXPECT_EQ(download<int>(part, 256), std::vector<int>(values.begin() + static_cast<std::ptrdiff_t>(first),
                                                       values.begin() + static_cast<std::ptrdiff_t>(first + 256)));
}

TEST_F(Buffers, ABufferLivesAsLongAsCommandsUseIt) {
  std::vector<int> got(100000, -1);
  cl::Event read;
  {
    std::vector<int> values(got.size());
    std::iota(values.begin(), values.end(), 0);
    const cl::Buffer buffer = upload(values);
    increment(buffer, values.size());
    queue.enqueueReadBuffer(buffer, CL_FALSE, 0, values.size() * 4, got.data(), nullptr, &read);
  }
  queue.flush();
  read.wait();
  EXPECT_EQ(got.front(), 1);
  EXPECT_EQ(got.back(), 100000);
}

} // namespace
} // namespace farcl::end_to_end
