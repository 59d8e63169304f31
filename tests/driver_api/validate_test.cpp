// The pure checks, where the table of rows would be too coarse: overlap against a byte-by-byte count, ranges at their limits.
#include "driver/validate/kernel.hpp"
#include "driver/validate/memory.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace farcl::driver::validate {
namespace {

using protocol::BufferRect;

std::set<std::uint64_t> bytes_of(const BufferRect& rect) {
  std::set<std::uint64_t> bytes;
  for (std::uint64_t z = 0; z < rect.depth; ++z) {
    for (std::uint64_t y = 0; y < rect.height; ++y) {
      for (std::uint64_t x = 0; x < rect.width_bytes; ++x) {
        bytes.insert(rect.offset + z * rect.slice_pitch + y * rect.row_pitch + x);
      }
    }
  }
  return bytes;
}

bool share_a_byte(const BufferRect& a, const BufferRect& b) {
  const std::set<std::uint64_t> of_a = bytes_of(a);
  const std::set<std::uint64_t> of_b = bytes_of(b);
  return std::any_of(of_a.begin(), of_a.end(), [&](std::uint64_t byte) { return of_b.contains(byte); });
}

TEST(CopyOverlap, NeverMissesASharedByte) {
  std::mt19937 random(12345);
  const auto up_to = [&](std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(random); };
  int overlapping = 0;
  int apart = 0;
  int refused_apart = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::size_t region[3] = {1 + up_to(5), 1 + up_to(3), 1 + up_to(2)};
    const std::size_t row = region[0] + up_to(6);
    const std::size_t slice = row * (region[1] + up_to(2));
    const std::size_t from[3] = {up_to(row - 1), up_to(4), up_to(3)};
    const std::size_t to[3] = {up_to(row - 1), up_to(4), up_to(3)};
    BufferRect source;
    BufferRect destination;
    ASSERT_EQ(make_rect(from, region, row, slice, source), CL_SUCCESS);
    ASSERT_EQ(make_rect(to, region, row, slice, destination), CL_SUCCESS);
    const bool shared = share_a_byte(source, destination);
    const bool refused = copy_overlap(source, destination) == CL_MEM_COPY_OVERLAP;
    if (shared) {
      ++overlapping;
      ASSERT_TRUE(refused) << "offsets " << source.offset << ' ' << destination.offset << " row " << row << " slice " << slice;
    } else {
      ++apart;
      refused_apart += refused ? 1 : 0;
    }
  }
  EXPECT_GT(overlapping, 1000);
  EXPECT_GT(apart, 1000);
  // The specification's own check is not exact either; ours may refuse a few odd shapes that interleave.
  EXPECT_LT(refused_apart, apart / 10);
}

TEST(CopyOverlap, IsExactForLinearRanges) {
  for (std::uint64_t a = 0; a < 12; ++a) {
    for (std::uint64_t b = 0; b < 12; ++b) {
      const bool shared = a < b + 4 && b < a + 4;
      EXPECT_EQ(copy_overlap(BufferRect::linear(a, 4), BufferRect::linear(b, 4)) == CL_MEM_COPY_OVERLAP, shared) << a << ' ' << b;
    }
  }
}

TEST(Rect, GetsDefaultPitches) {
  const std::size_t origin[3] = {2, 3, 1};
  const std::size_t region[3] = {4, 5, 6};
  BufferRect rect;
  ASSERT_EQ(make_rect(origin, region, 0, 0, rect), CL_SUCCESS);
  EXPECT_EQ(rect, (BufferRect{2 + 3 * 4 + 20, 4, 5, 6, 4, 20}));
  ASSERT_EQ(make_rect(origin, region, 10, 0, rect), CL_SUCCESS);
  EXPECT_EQ(rect, (BufferRect{2 + 3 * 10 + 50, 4, 5, 6, 10, 50}));
  ASSERT_EQ(make_rect(origin, region, 10, 70, rect), CL_SUCCESS);
  EXPECT_EQ(rect, (BufferRect{2 + 3 * 10 + 70, 4, 5, 6, 10, 70}));
}

TEST(Rect, LiesWithinExactlyItsBuffer) {
  const std::size_t origin[3] = {1, 1, 0};
  const std::size_t region[3] = {4, 2, 2};
  BufferRect rect;
  ASSERT_EQ(make_rect(origin, region, 8, 24, rect), CL_SUCCESS);
  const std::uint64_t end = 1 + 8 + 24 + 8 + 4;
  EXPECT_EQ(rect_within(rect, end), CL_SUCCESS);
  EXPECT_EQ(rect_within(rect, end - 1), CL_INVALID_VALUE);
}

TEST(Ranges, EndExactlyAtTheBuffersEnd) {
  char memory = 0;
  EXPECT_EQ(transfer_range(64, 0, 64, &memory), CL_SUCCESS);
  EXPECT_EQ(transfer_range(64, 63, 1, &memory), CL_SUCCESS);
  EXPECT_EQ(transfer_range(64, 64, 0, &memory), CL_SUCCESS);
  EXPECT_EQ(transfer_range(64, 65, 0, &memory), CL_INVALID_VALUE);
  EXPECT_EQ(transfer_range(64, 1, 64, &memory), CL_INVALID_VALUE);
  EXPECT_EQ(map_range(64, CL_MAP_WRITE, 32, 32), CL_SUCCESS);
  EXPECT_EQ(map_range(64, 0, 32, 32), CL_SUCCESS);
  EXPECT_EQ(fill_range(128, &memory, 128, 0, 128), CL_SUCCESS);
  EXPECT_EQ(fill_range(128, &memory, 1, 5, 7), CL_SUCCESS);
  EXPECT_EQ(fill_range(128, &memory, 4, 4, 0), CL_SUCCESS);
}

TEST(SubBuffer, InheritsWhatItDoesNotSay) {
  EXPECT_EQ(sub_buffer_flags(CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, 0), cl_mem_flags{CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR});
  EXPECT_EQ(sub_buffer_flags(CL_MEM_READ_WRITE, CL_MEM_READ_ONLY), cl_mem_flags{CL_MEM_READ_ONLY});
  EXPECT_EQ(sub_buffer_flags(CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS),
            cl_mem_flags{CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS});
}

TEST(SubBuffer, NeedsOneDeviceThatItSuits) {
  const cl_buffer_region region{128, 64};
  const std::vector<std::uint64_t> both = {4096, 1024};
  const std::vector<std::uint64_t> wide = {4096};
  EXPECT_EQ(create_sub_buffer({0, 4096, false}, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, both), CL_SUCCESS);
  EXPECT_EQ(create_sub_buffer({0, 4096, false}, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, wide), CL_MISALIGNED_SUB_BUFFER_OFFSET);
  EXPECT_EQ(sub_buffer_alignment(128, 0), CL_SUCCESS);
}

TEST(KernelArgument, IsNeverLargerThanAMessageCarries) {
  ArgumentInfo info;
  const std::vector<char> bytes(protocol::kMaxKernelArgumentBytes + 1);
  ArgumentValue value;
  info.size_bytes = protocol::kMaxKernelArgumentBytes;
  EXPECT_EQ(kernel_argument(info, info.size_bytes, bytes.data(), value), CL_SUCCESS);
  info.size_bytes = protocol::kMaxKernelArgumentBytes + 1;
  EXPECT_EQ(kernel_argument(info, info.size_bytes, bytes.data(), value), CL_INVALID_ARG_SIZE);
}

// --- Launches ---------------------------------------------------------------------------------------------------------------

NdRangeLimits limits() {
  NdRangeLimits result;
  result.max_work_item_sizes = {1024, 1024, 64};
  result.max_work_group_size = 1024;
  result.local_memory_bytes = 32768;
  return result;
}

cl_int check(const KernelInfo& kernel, std::vector<std::size_t> global, std::vector<std::size_t> local, NdRange& range) {
  return nd_range(kernel, limits(), 0, static_cast<cl_uint>(global.size()), nullptr, global.data(), local.empty() ? nullptr : local.data(),
                  range);
}

TEST(NdRangeCheck, FillsUnusedDimensions) {
  NdRange range;
  ASSERT_EQ(check({}, {6, 4}, {3, 2}, range), CL_SUCCESS);
  EXPECT_EQ(range.global_size, (std::array<std::uint64_t, 3>{6, 4, 1}));
  EXPECT_EQ(range.local_size, (std::array<std::uint64_t, 3>{3, 2, 1}));
  ASSERT_EQ(check({}, {6}, {}, range), CL_SUCCESS);
  EXPECT_EQ(range.local_size, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

TEST(NdRangeCheck, TakesPartialGroupsFromKernelsBuiltForThem) {
  NdRange range;
  KernelInfo kernel;
  EXPECT_EQ(check(kernel, {10}, {4}, range), CL_INVALID_WORK_GROUP_SIZE);
  kernel.uniform_work_groups = false;
  EXPECT_EQ(check(kernel, {10}, {4}, range), CL_SUCCESS);
  EXPECT_EQ(check(kernel, {3}, {4}, range), CL_SUCCESS);
}

TEST(NdRangeCheck, UsesTheRequiredSize) {
  NdRange range;
  KernelInfo kernel;
  kernel.required_work_group_size = {4, 2, 1};
  ASSERT_EQ(check(kernel, {8, 2}, {}, range), CL_SUCCESS);
  EXPECT_EQ(range.local_size, (std::array<std::uint64_t, 3>{4, 2, 1}));
  EXPECT_EQ(check(kernel, {8}, {}, range), CL_INVALID_WORK_GROUP_SIZE); // one row, groups of two
  EXPECT_EQ(check(kernel, {8, 2}, {2, 2}, range), CL_INVALID_WORK_GROUP_SIZE);
}

TEST(NdRangeCheck, KernelsLimitsComeBeforeTheDevices) {
  NdRange range;
  KernelInfo kernel;
  kernel.max_work_group_size = 128;
  EXPECT_EQ(check(kernel, {256}, {128}, range), CL_SUCCESS);
  EXPECT_EQ(check(kernel, {256}, {256}, range), CL_INVALID_WORK_GROUP_SIZE);
}

TEST(NdRangeCheck, AddsUpLocalMemory) {
  NdRange range;
  KernelInfo kernel;
  kernel.static_local_bytes = 32000;
  const std::size_t global = 1;
  EXPECT_EQ(nd_range(kernel, limits(), 768, 1, nullptr, &global, nullptr, range), CL_SUCCESS);
  EXPECT_EQ(nd_range(kernel, limits(), 769, 1, nullptr, &global, nullptr, range), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(nd_range(kernel, limits(), ~std::uint64_t{0}, 1, nullptr, &global, nullptr, range), CL_OUT_OF_RESOURCES);
}

} // namespace
} // namespace farcl::driver::validate
