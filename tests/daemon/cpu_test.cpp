// The CPU backend behind a session: kernels that farcl-kc compiles.
#include "../kernel_compiler/service_process.hpp"
#include "daemon/backends/cpu/cpu_backend.hpp"
#include "daemon/backends/cpu/local_size.hpp"
#include "test_client.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

namespace farcl::daemon::test {
namespace {

constexpr p::ContextId kContext{1};
constexpr p::QueueId kQueue{2};
constexpr p::QueueId kOtherQueue{3};

class CpuTest : public ::testing::Test {
protected:
  void SetUp() override {
    CpuOptions options;
    options.threads = 2;
    options.memory_bytes = 256u << 20;
    backend_ = std::make_unique<CpuBackend>(service().connect_raw(), options);
    SessionConfig config;
    config.parts.limits.memory_bytes = options.memory_bytes;
    config.parts.devices = backend_->devices();
    session_ = std::make_unique<Session>(std::move(config));
    client_ = std::make_unique<TestClient>(*session_);
    thread_ = std::thread([this] { (void)session_->run(); });
    ASSERT_TRUE(client_->connect());
    client_->send(p::CreateContext{kContext, {0}});
    client_->send(p::CreateQueue{kQueue, kContext, 0, false, true});
    client_->send(p::CreateQueue{kOtherQueue, kContext, 0, true, false});
  }
  void TearDown() override {
    session_->end("");
    thread_.join();
    backend_->stop();
  }
  static kernel_compiler::test::ServiceProcess& service() {
    static kernel_compiler::test::ServiceProcess one;
    return one;
  }

  bool build(const std::string& source, const std::string& options = "") {
    p::BuildProgram message;
    message.request = {++next_};
    message.program = program_ = {++next_};
    message.context = kContext;
    message.devices = {0};
    message.inputs.push_back(p::SourceInput{std::as_bytes(std::span(source))});
    message.options = options;
    client_->send(message);
    const std::size_t before = client_->builds.size();
    if (!client_->until([&] { return client_->builds.size() > before; }, 60s)) {
      return false;
    }
    EXPECT_EQ(client_->builds.back().status, CL_SUCCESS) << client_->builds.back().log;
    return client_->builds.back().status == CL_SUCCESS;
  }
  template <class T>
  p::BufferId buffer(const std::vector<T>& contents) {
    const p::BufferId id{++next_};
    const auto bytes = std::as_bytes(std::span(contents));
    if (bytes.size() <= p::kMaxInlineBytes) {
      client_->send(p::CreateBuffer{id, kContext, 0, bytes.size(), {}, bytes});
    } else {
      client_->send(p::CreateBuffer{id, kContext, 0, bytes.size(), {++next_}, {}});
      client_->send_bulk({next_}, 0, bytes);
    }
    return id;
  }
  template <class T>
  std::vector<T> contents(p::BufferId id, std::size_t count) {
    const auto bytes = client_->read(kQueue, id, 0, count * sizeof(T));
    std::vector<T> values(count);
    if (bytes && bytes->size() == count * sizeof(T)) {
      std::memcpy(values.data(), bytes->data(), bytes->size());
    } else {
      ADD_FAILURE() << "the buffer cannot be read";
    }
    return values;
  }
  p::EnqueueKernel launch(std::uint32_t kernel, std::vector<p::KernelArgument> arguments, std::array<std::uint64_t, 3> global,
                          std::array<std::uint64_t, 3> local = {}) {
    p::EnqueueKernel message;
    message.command.queue = kQueue;
    message.program = program_;
    message.kernel_index = kernel;
    message.work_dim = global[2] != 1 ? 3 : global[1] != 1 ? 2 : 1;
    message.global_size = global;
    message.local_size = local;
    message.arguments = std::move(arguments);
    return message;
  }

  std::unique_ptr<CpuBackend> backend_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<TestClient> client_;
  std::thread thread_;
  std::uint64_t next_ = 100;
  p::ProgramId program_;
};

template <class T>
p::KernelArgument value(const T& of) {
  return p::ValueArgument{std::as_bytes(std::span(&of, 1))};
}

TEST_F(CpuTest, AddsVectors) {
  ASSERT_TRUE(build("kernel void add(global const float* a, global const float* b, global float* c) {"
                    " size_t i = get_global_id(0); c[i] = a[i] + b[i]; }"));
  constexpr std::size_t kCount = 100'000;
  std::vector<float> a(kCount);
  std::vector<float> b(kCount);
  std::iota(a.begin(), a.end(), 0.0f);
  std::iota(b.begin(), b.end(), 5.0f);
  const auto first = buffer(a);
  const auto second = buffer(b);
  const auto sum = buffer(std::vector<float>(kCount));
  client_->send(launch(0, {p::BufferArgument{first}, p::BufferArgument{second}, p::BufferArgument{sum}}, {kCount, 1, 1}));
  const auto result = contents<float>(sum, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(result[i], a[i] + b[i]) << i;
  }
}

TEST_F(CpuTest, LocalMemoryAndBarriers) {
  ASSERT_TRUE(build("kernel void total(global const int* in, global int* out, local int* t) {"
                    " local int extra[4]; size_t l = get_local_id(0); t[l] = in[get_global_id(0)];"
                    " if (l < 4) extra[l] = (int)l;"
                    " barrier(CLK_LOCAL_MEM_FENCE);"
                    " for (size_t s = get_local_size(0) / 2; s > 0; s /= 2) { if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }"
                    " if (l == 0) out[get_group_id(0)] = t[0] + extra[3]; }"));
  std::vector<int> in(64 * 256);
  std::iota(in.begin(), in.end(), 1);
  const auto from = buffer(in);
  const auto to = buffer(std::vector<int>(256));
  client_->send(launch(0, {p::BufferArgument{from}, p::BufferArgument{to}, p::LocalArgument{64 * 4}}, {64 * 256, 1, 1}, {64, 1, 1}));
  const auto result = contents<int>(to, 256);
  for (int g = 0; g < 256; ++g) {
    const int expected = std::accumulate(in.begin() + g * 64, in.begin() + (g + 1) * 64, 0) + 3;
    ASSERT_EQ(result[static_cast<std::size_t>(g)], expected) << g;
  }
}

TEST_F(CpuTest, IdsOfThreeDimensionsWithOffsetsAndPartialGroups) {
  ASSERT_TRUE(build("kernel void mark(global uint* out) { size_t x = get_global_id(0) - get_global_offset(0);"
                    " size_t y = get_global_id(1) - get_global_offset(1); size_t z = get_global_id(2) - get_global_offset(2);"
                    " out[(z * get_global_size(1) + y) * get_global_size(0) + x] = 1 + get_local_size(0) * 10000"
                    " + get_group_id(1) * 100 + get_global_id(2); }",
                    "-cl-std=CL3.0"));
  constexpr std::size_t kX = 10, kY = 7, kZ = 3;
  const auto out = buffer(std::vector<std::uint32_t>(kX * kY * kZ));
  auto message = launch(0, {p::BufferArgument{out}}, {kX, kY, kZ}, {4, 2, 2});
  message.global_offset = {3, 5, 7};
  client_->send(message);
  const auto result = contents<std::uint32_t>(out, kX * kY * kZ);
  for (std::size_t z = 0; z < kZ; ++z) {
    for (std::size_t y = 0; y < kY; ++y) {
      for (std::size_t x = 0; x < kX; ++x) {
        const std::size_t local = x < 8 ? 4 : 2;
        ASSERT_EQ(result[(z * kY + y) * kX + x], 1 + local * 10000 + y / 2 * 100 + z + 7) << x << " " << y << " " << z;
      }
    }
  }
}

TEST_F(CpuTest, RequiredWorkGroupSizeIsTakenWhereNoneIsGiven) {
  ASSERT_TRUE(build("kernel __attribute__((reqd_work_group_size(8, 2, 1))) void k(global uint* out) {"
                    " out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_local_size(0) * 10 + get_local_size(1); }"));
  const auto out = buffer(std::vector<std::uint32_t>(64));
  client_->send(launch(0, {p::BufferArgument{out}}, {16, 4, 1}));
  EXPECT_EQ(contents<std::uint32_t>(out, 64), std::vector<std::uint32_t>(64, 82));
}

TEST_F(CpuTest, SubBuffersFillsAndCopies) {
  ASSERT_TRUE(build("kernel void twice(global int* v) { v[get_global_id(0)] *= 2; }"));
  const auto whole = buffer(std::vector<int>(1024, 1));
  client_->send(p::CreateSubBuffer{{50}, whole, 0, 512, 256});
  const int seven = 7;
  client_->send(p::EnqueueFill{{kQueue, {}, false, {}}, {50}, 0, 256, std::as_bytes(std::span(&seven, 1))});
  client_->send(launch(0, {p::BufferArgument{{50}}}, {64, 1, 1}));
  client_->send(p::EnqueueCopy{{kQueue, {}, false, {}}, {50}, whole, p::BufferRect::linear(0, 256), p::BufferRect::linear(0, 256)});
  const auto result = contents<int>(whole, 1024);
  EXPECT_EQ(result[0], 14);
  EXPECT_EQ(result[64], 1);
  EXPECT_EQ(result[128], 14);
  EXPECT_EQ(result[192], 1);
}

TEST_F(CpuTest, PrintfComesInWholeLines) {
  ASSERT_TRUE(build(
      "kernel void say(int n) { if (get_global_id(0) == 0) for (int i = 0; i < n; ++i) printf(\"line %d of %s\\n\", i, \"many\"); }"));
  const int lines = 3000;
  auto message = launch(0, {value(lines)}, {4, 1, 1});
  message.command.event = {60};
  message.command.notify = true;
  client_->send(message);
  EXPECT_EQ(client_->status_of({60}), CL_COMPLETE);
  std::string expected;
  for (int i = 0; i < lines; ++i) {
    expected += "line " + std::to_string(i) + " of many\n";
  }
  EXPECT_EQ(client_->printed, expected);
}

TEST_F(CpuTest, AnEndlessKernelStopsNeitherCopiesNorSmallKernels) {
  ASSERT_TRUE(build("kernel void spin(global volatile int* flag) { while (*flag == 0) ; }\n"
                    "kernel void set(global int* v) { *v = 1; }"));
  const auto flag = buffer(std::vector<int>(1));
  const auto other = buffer(std::vector<int>(1));
  auto endless = launch(0, {p::BufferArgument{flag}}, {1024, 1, 1}, {1, 1, 1});
  endless.command.event = {61};
  endless.command.notify = true;
  client_->send(endless);
  auto small = launch(1, {p::BufferArgument{other}}, {1, 1, 1});
  small.command.queue = kOtherQueue;
  client_->send(small);
  ASSERT_EQ(client_->finish(kOtherQueue), CL_SUCCESS);
  const auto bytes = client_->read(kOtherQueue, other, 0, 4);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ((*bytes)[0], std::byte{1});
  EXPECT_TRUE(client_->completions.empty());
  small.arguments = {p::BufferArgument{flag}};
  client_->send(small);
  EXPECT_EQ(client_->status_of({61}), CL_COMPLETE);
}

TEST_F(CpuTest, TimesOfALongKernel) {
  ASSERT_TRUE(build("kernel void work(global uint* v, uint n) { uint x = v[0]; for (uint i = 0; i < n; ++i) x = x * 1664525u + 1013904223u;"
                    " v[get_global_id(0)] = x; }"));
  const auto out = buffer(std::vector<std::uint32_t>(256));
  const std::uint32_t steps = 1'000'000;
  for (std::uint64_t i = 0; i < 3; ++i) {
    auto message = launch(0, {p::BufferArgument{out}, value(steps)}, {2, 1, 1});
    message.command.event = {70 + i};
    message.command.notify = true;
    client_->send(message);
  }
  EXPECT_EQ(client_->status_of({72}), CL_COMPLETE);
  ASSERT_EQ(client_->completions.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto times = client_->completions[i].times.value();
    EXPECT_LE(times.submitted_ns, times.started_ns);
    EXPECT_LT(times.started_ns + 100'000, times.ended_ns);
    if (i > 0) {
      EXPECT_GE(times.started_ns, client_->completions[i - 1].times->ended_ns); // in order
    }
  }
}

TEST_F(CpuTest, IntegerDivisionByZeroCompletes) {
  ASSERT_TRUE(build("kernel void divide(global int* v, int by) { v[0] = v[0] / by; v[1] = v[1] % by; v[2] = 5; }"));
  const auto out = buffer(std::vector<int>{1, 2, 3});
  const int zero = 0;
  client_->send(launch(0, {p::BufferArgument{out}, value(zero)}, {1, 1, 1}));
  EXPECT_EQ(contents<int>(out, 3)[2], 5);
}

TEST_F(CpuTest, LargeReadsWritesAndCopies) {
  constexpr std::size_t kCount = 4u << 20;
  std::vector<std::uint32_t> data(kCount);
  std::iota(data.begin(), data.end(), 17u);
  const auto from = buffer(data);
  const auto to = buffer(std::vector<std::uint32_t>(kCount));
  client_->send(
      p::EnqueueCopy{{kQueue, {}, false, {}}, from, to, p::BufferRect::linear(0, kCount * 4), p::BufferRect::linear(0, kCount * 4)});
  EXPECT_EQ(contents<std::uint32_t>(to, kCount), data);
}

TEST_F(CpuTest, HeadersAndBuildErrorsAndBinaries) {
  p::BuildProgram message;
  const std::string source = "#include \"answer.h\"\nkernel void k(global int* v) { *v = ANSWER; }";
  const std::string header = "#define ANSWER 42\n";
  message.request = {++next_};
  message.program = program_ = {++next_};
  message.context = kContext;
  message.devices = {0};
  message.inputs.push_back(p::SourceInput{std::as_bytes(std::span(source))});
  message.headers.push_back({"answer.h", std::as_bytes(std::span(header))});
  client_->send(message);
  ASSERT_TRUE(client_->until([&] { return client_->builds.size() == 1; }, 60s));
  ASSERT_EQ(client_->builds[0].status, CL_SUCCESS) << client_->builds[0].log;
  ASSERT_EQ(client_->builds[0].info.kernels.size(), 1u);
  const auto out = buffer(std::vector<int>(1));
  client_->send(launch(0, {p::BufferArgument{out}}, {1, 1, 1}));
  EXPECT_EQ(contents<int>(out, 1)[0], 42);

  client_->send(p::GetProgramBinary{{++next_}, program_});
  ASSERT_TRUE(client_->until([&] { return client_->binary_status.has_value(); }));
  message.program = program_ = {++next_};
  message.headers.clear();
  message.inputs = {p::BinaryInput{client_->binary}};
  client_->send(message);
  ASSERT_TRUE(client_->until([&] { return client_->builds.size() == 2; }, 60s));
  ASSERT_EQ(client_->builds[1].status, CL_SUCCESS) << client_->builds[1].log;
  client_->send(launch(0, {p::BufferArgument{out}}, {1, 1, 1}));
  EXPECT_EQ(contents<int>(out, 1)[0], 42);

  const std::string wrong = "kernel void k(global int* v) {\n *v = nothing; }";
  message.program = {++next_};
  message.inputs = {p::SourceInput{std::as_bytes(std::span(wrong))}};
  client_->send(message);
  ASSERT_TRUE(client_->until([&] { return client_->builds.size() == 3; }, 60s));
  EXPECT_EQ(client_->builds[2].status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_NE(client_->builds[2].log.find(":2:"), std::string::npos) << client_->builds[2].log;
}

TEST(LocalSizeTest, DividesAndSuits) {
  KernelInfo info;
  info.max_work_group_size = 4096;
  info.preferred_multiple = 16;
  const auto chosen = [&](std::array<std::uint64_t, 3> global, std::uint32_t dimensions) {
    return choose_local_size(NdRange{dimensions, {}, global, {}}, info, 2);
  };
  for (const auto& global : {std::array<std::uint64_t, 3>{1 << 20, 1, 1},
                             {1000, 1, 1},
                             {17, 1, 1},
                             {1, 1, 1},
                             {1021, 1, 1},
                             {640, 480, 1},
                             {31, 33, 35},
                             {1, 4096, 1}}) {
    const auto local = chosen(global, 3);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_NE(local[i], 0u);
      EXPECT_EQ(global[i] % local[i], 0u) << global[i] << " " << local[i];
    }
    EXPECT_LE(local[0] * local[1] * local[2], 4096u);
  }
  EXPECT_EQ(chosen({1 << 20, 1, 1}, 1)[0] % 16, 0u);
  EXPECT_GE(chosen({1 << 20, 1, 1}, 1)[0], 128u);
}

} // namespace
} // namespace farcl::daemon::test
