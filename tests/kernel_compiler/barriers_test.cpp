// Barriers in every legal place, with local and private memory living across them.

#include "kernel_runner.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace farcl::kernel_compiler::test {
namespace {

std::vector<int> counting(std::size_t size, int first = 0) {
  std::vector<int> values(size);
  std::iota(values.begin(), values.end(), first);
  return values;
}

class Barriers : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Options, Barriers, ::testing::Values("", "-cl-opt-disable", "-cl-std=CL3.0"));

TEST_P(Barriers, ReverseThroughStaticLocalMemory) {
  Program program(R"(kernel void reverse(global int* data) {
    local int tile[64];
    size_t i = get_local_id(0);
    tile[i] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = tile[get_local_size(0) - 1 - i];
  })",
                  GetParam());
  EXPECT_EQ(program.info("reverse").static_local_bytes, 256U);
  EXPECT_GT(program.info("reverse").frame_bytes_per_item, 0U);
  EXPECT_EQ(program.info("reverse").cost_per_item, 0U);
  std::vector<int> data = counting(200);
  Arguments arguments;
  arguments.buffer(data);
  program.run("reverse", arguments, {200, 1, 1}, {64, 1, 1});
  for (int i = 0; i < 200; ++i) {
    const int first = i / 64 * 64, size = std::min(64, 200 - first);
    EXPECT_EQ(data[i], first + size - 1 - (i - first));
  }
}

TEST_P(Barriers, TreeReductionInALoop) {
  Program program(R"(kernel void sum(global const int* in, global int* out, local int* part) {
    size_t i = get_local_id(0);
    part[i] = in[get_global_id(0)];
    for (size_t step = get_local_size(0) / 2; step > 0; step /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (i < step) part[i] += part[i + step];
    }
    if (i == 0) out[get_group_id(0)] = part[0];
  })",
                  GetParam());
  std::vector<int> in = counting(1024), out(8);
  Arguments arguments;
  arguments.buffer(in).buffer(out).local(128 * sizeof(int));
  program.run("sum", arguments, {1024, 1, 1}, {128, 1, 1});
  for (int group = 0; group < 8; ++group) {
    EXPECT_EQ(out[group], std::accumulate(in.begin() + group * 128, in.begin() + (group + 1) * 128, 0));
  }
}

TEST_P(Barriers, InUniformBranches) {
  Program program(R"(kernel void branch(global int* data, int mode) {
    local int tile[32];
    int i = get_local_id(0);
    tile[i] = data[i];
    if (mode == 1) { barrier(CLK_LOCAL_MEM_FENCE); data[i] = tile[31 - i]; }
    else if (mode == 2) { barrier(CLK_LOCAL_MEM_FENCE); int v = tile[(i + 1) % 32]; barrier(CLK_LOCAL_MEM_FENCE); tile[i] = v * 2;
      barrier(CLK_LOCAL_MEM_FENCE); data[i] = tile[(i + 1) % 32]; }
    else data[i] = -1;
  })",
                  GetParam());
  for (int mode = 0; mode < 3; ++mode) {
    std::vector<int> data = counting(32);
    Arguments arguments;
    arguments.buffer(data).value(mode);
    program.run("branch", arguments, {32, 1, 1}, {32, 1, 1});
    for (int i = 0; i < 32; ++i) {
      EXPECT_EQ(data[i], mode == 0 ? -1 : mode == 1 ? 31 - i : (i + 2) % 32 * 2) << "mode " << mode;
    }
  }
}

TEST_P(Barriers, PrivateArraysLiveAcross) {
  Program program(R"(kernel void keep(global int* out, int rounds) {
    int mine[16]; local int box[16];
    int i = get_local_id(0);
    for (int k = 0; k < 16; ++k) mine[k] = i * 100 + k;
    for (int r = 0; r < rounds; ++r) {
      box[i] = mine[r % 16];
      barrier(CLK_LOCAL_MEM_FENCE);
      mine[(r + i) % 16] += box[(i + r) % 16];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    int sum = 0;
    for (int k = 0; k < 16; ++k) sum = sum * 31 + mine[k];
    out[i] = sum;
  })",
                  GetParam());
  constexpr int kRounds = 37;
  unsigned mine[16][16];
  for (unsigned i = 0; i < 16; ++i) {
    for (unsigned k = 0; k < 16; ++k) {
      mine[i][k] = i * 100 + k;
    }
  }
  for (unsigned r = 0; r < kRounds; ++r) {
    unsigned box[16];
    for (unsigned i = 0; i < 16; ++i) {
      box[i] = mine[i][r % 16];
    }
    for (unsigned i = 0; i < 16; ++i) {
      mine[i][(r + i) % 16] += box[(i + r) % 16];
    }
  }
  std::vector<int> out(16);
  Arguments arguments;
  arguments.buffer(out).value(kRounds);
  program.run("keep", arguments, {16, 1, 1}, {16, 1, 1});
  for (unsigned i = 0; i < 16; ++i) {
    unsigned sum = 0;
    for (unsigned k = 0; k < 16; ++k) {
      sum = sum * 31 + mine[i][k];
    }
    EXPECT_EQ(static_cast<unsigned>(out[i]), sum);
  }
}

TEST_P(Barriers, InCalledFunctions) {
  Program program(R"(
    int exchange(local int* box, int value) {
      box[get_local_id(0)] = value;
      barrier(CLK_LOCAL_MEM_FENCE);
      int other = box[get_local_size(0) - 1 - get_local_id(0)];
      barrier(CLK_LOCAL_MEM_FENCE);
      return other;
    }
    int twice(local int* box, int value) { return exchange(box, exchange(box, value) + 1000); }
    kernel void inner(global int* data, local int* box) { data[get_global_id(0)] = twice(box, data[get_global_id(0)]); }
    kernel void outer(global int* data) { local int box[64]; inner(data, box); barrier(CLK_GLOBAL_MEM_FENCE); data[get_global_id(0)] += 1; }
  )",
                  GetParam());
  std::vector<int> data = counting(64);
  Arguments arguments;
  arguments.buffer(data);
  program.run("outer", arguments, {64, 1, 1}, {64, 1, 1});
  EXPECT_EQ(data, counting(64, 1001));
}

TEST_P(Barriers, MatrixTilesInTwoDimensions) {
  Program program(R"(
    #define T 8
    kernel void multiply(global const float* a, global const float* b, global float* c, int n) {
      local float ta[T][T], tb[T][T];
      int x = get_local_id(0), y = get_local_id(1), row = get_global_id(1), column = get_global_id(0);
      float sum = 0;
      for (int t = 0; t < n / T; ++t) {
        ta[y][x] = a[row * n + t * T + x];
        tb[y][x] = b[(t * T + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; ++k) sum += ta[y][k] * tb[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      c[row * n + column] = sum;
    })",
                  GetParam());
  constexpr int n = 32;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 13);
    b[i] = static_cast<float>(i % 7 - 3);
  }
  Arguments arguments;
  arguments.buffer(a).buffer(b).buffer(c).value(n);
  program.run("multiply", arguments, {n, n, 1}, {8, 8, 1});
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int k = 0; k < n; ++k) {
        sum += a[row * n + k] * b[k * n + column];
      }
      EXPECT_EQ(c[row * n + column], sum);
    }
  }
}

TEST_P(Barriers, AsyncCopies) {
  Program program(R"(kernel void copy(global const int* in, global int* out, int n) {
    local int box[256];
    event_t e = async_work_group_copy(box, in + get_group_id(0) * n, n, 0);
    wait_group_events(1, &e);
    for (int i = get_local_id(0); i < n; i += get_local_size(0)) box[i] *= 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t f = async_work_group_copy(out + get_group_id(0) * n, box, n, 0);
    f = async_work_group_strided_copy(out + 1000 + get_group_id(0), box, n, 2, f);
    wait_group_events(1, &f);
  })",
                  GetParam());
  std::vector<int> in = counting(200), out(2000, -1);
  Arguments arguments;
  arguments.buffer(in).buffer(out).value(100);
  program.run("copy", arguments, {32, 1, 1}, {16, 1, 1});
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(out[i], i * 3);
    EXPECT_EQ(out[1000 + i / 100 + i % 100 * 2], i * 3);
  }
}

TEST_P(Barriers, EarlyReturnOfAllItemsAndValuesInBigVectors) {
  Program program(R"(kernel void big(global double16* data, global int* flag) {
    if (flag[get_group_id(0)] == 0) return;
    double16 mine = data[get_global_id(0)];
    local double16 box[4];
    box[get_local_id(0)] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = mine + box[3 - get_local_id(0)];
  })",
                  GetParam());
  struct alignas(128) Wide {
    double values[16];
  };
  std::vector<Wide> data(8);
  for (int i = 0; i < 128; ++i) {
    data[i / 16].values[i % 16] = i;
  }
  std::vector<int> flag = {0, 1};
  Arguments arguments;
  arguments.buffer(data).buffer(flag);
  program.run("big", arguments, {8, 1, 1}, {4, 1, 1});
  for (int i = 0; i < 128; ++i) {
    const int item = i / 16;
    EXPECT_EQ(data[item].values[i % 16], item < 4 ? i : i + (4 + 7 - item) * 16 + i % 16);
  }
}

TEST_P(Barriers, NestedLoopsWithUniformBreak) {
  Program program(R"(kernel void nest(global int* out, int n) {
    local int total; int i = get_local_id(0);
    if (i == 0) total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b <= a; ++b) {
        if (a * b > 50) break;
        atomic_add(&total, 1);
        work_group_barrier(CLK_LOCAL_MEM_FENCE);
        out[i] = out[i] * 3 + total;
        work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
      }
    }
  })",
                  "-cl-std=CL3.0");
  std::vector<int> out(8, 1);
  Arguments arguments;
  arguments.buffer(out).value(12);
  program.run("nest", arguments, {8, 1, 1}, {8, 1, 1});
  unsigned expected = 1, total = 0;
  for (int a = 0; a < 12; ++a) {
    for (int b = 0; b <= a && a * b <= 50; ++b) {
      total += 8;
      expected = expected * 3 + total;
    }
  }
  for (const int value : out) {
    EXPECT_EQ(static_cast<unsigned>(value), expected);
  }
}

} // namespace
} // namespace farcl::kernel_compiler::test
