// Buffers in memory that client and server share: whatever way the bytes go, the program sees what OpenCL promises.
//
// Every test changes the contents each time and looks at them from both sides, host and kernel.
#include "support/cl_fixture.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <thread>

namespace farcl::end_to_end {
namespace {

using Words = std::vector<cl_uint>;

constexpr const char* kSource = R"(
__kernel void add(__global uint *x, uint k) { x[get_global_id(0)] += k; }
__kernel void sum(__global const uint *x, __global uint *out, uint n) {
  uint s = 0;
  for (uint i = 0; i < n; ++i) s = s * 31 + x[i];
  out[0] = s;
}
)";

cl_uint sum_of(const Words& words) {
  return std::accumulate(words.begin(), words.end(), cl_uint{0}, [](cl_uint sum, cl_uint word) { return sum * 31 + word; });
}

bool lies_in_shared_memory(const void* pointer) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &first, &last) == 2 &&
        reinterpret_cast<std::uintptr_t>(pointer) - first < last - first) {
      return line.find("memfd:farcl-buffers") != std::string::npos;
    }
  }
  return false;
}

class SharedMemory : public ClTest {
protected:
  void SetUp() override {
    ClTest::SetUp();
    program = build(kSource);
    add = cl::Kernel(program, "add");
    sum = cl::Kernel(program, "sum");
    result = cl::Buffer(context, CL_MEM_READ_WRITE, 4);
    plain = cl::CommandQueue(context, device);
  }
  Words words(std::size_t count) {
    Words made(count);
    for (cl_uint& word : made) {
      word = random();
    }
    return made;
  }
  static std::size_t bytes(const Words& words) { return words.size() * sizeof(cl_uint); }
  cl_uint sum_on_device(const cl::CommandQueue& on, const cl::Buffer& buffer, std::size_t count) {
    sum.setArg(0, buffer);
    sum.setArg(1, result);
    sum.setArg(2, static_cast<cl_uint>(count));
    on.enqueueNDRangeKernel(sum, cl::NullRange, cl::NDRange(1));
    cl_uint value = 0;
    on.enqueueReadBuffer(result, CL_TRUE, 0, 4, &value);
    return value;
  }
  void add_on_device(const cl::CommandQueue& on, const cl::Buffer& buffer, std::size_t count, cl_uint k) {
    add.setArg(0, buffer);
    add.setArg(1, k);
    on.enqueueNDRangeKernel(add, cl::NullRange, cl::NDRange(count));
  }
  std::mt19937 random{7};
  cl::Program program;
  cl::Kernel add;
  cl::Kernel sum;
  cl::Buffer result;
  cl::CommandQueue plain; ///< in order, without profiling
};

TEST_F(SharedMemory, AKernelSeesEachWriteAndTheHostSeesEachKernel) {
  for (const std::size_t count : {std::size_t{16} << 10, std::size_t{1} << 20}) {
    const cl::Buffer buffer(context, CL_MEM_READ_WRITE, count * 4);
    for (cl_uint round = 0; round < 12; ++round) {
      Words sent = words(count);
      plain.enqueueWriteBuffer(buffer, round % 2 == 0 ? CL_TRUE : CL_FALSE, 0, bytes(sent), sent.data());
      ASSERT_EQ(sum_on_device(plain, buffer, count), sum_of(sent)) << round;
      add_on_device(plain, buffer, count, round);
      Words got(count);
      plain.enqueueReadBuffer(buffer, CL_TRUE, 0, bytes(got), got.data()); // the kernel may still run
      std::for_each(sent.begin(), sent.end(), [&](cl_uint& word) { word += round; });
      ASSERT_EQ(got, sent) << round;
    }
  }
}

TEST_F(SharedMemory, MappingsAreTheBufferItself) {
  constexpr std::size_t kCount = 256u << 10;
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, kCount * 4);
  for (cl_uint round = 0; round < 6; ++round) {
    const Words sent = words(kCount);
    void* pointer = plain.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, kCount * 4);
    std::copy(sent.begin(), sent.end(), static_cast<cl_uint*>(pointer));
    plain.enqueueUnmapMemObject(buffer, pointer);
    ASSERT_EQ(sum_on_device(plain, buffer, kCount), sum_of(sent));
    add_on_device(plain, buffer, kCount, 5);
    const auto* seen = static_cast<const cl_uint*>(plain.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ, 4000, 8000));
    for (std::size_t i = 0; i < 2000; ++i) {
      ASSERT_EQ(seen[i], sent[1000 + i] + 5);
    }
    plain.enqueueUnmapMemObject(buffer, const_cast<cl_uint*>(seen));
    EXPECT_TRUE(lies_in_shared_memory(pointer)) << "a copy";
  }
}

TEST_F(SharedMemory, AWriteBehindAnOpenEventChangesNothingBefore) {
  constexpr std::size_t kCount = 100'000;
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE, kCount * 4);
  const cl::CommandQueue other(context, device);
  Words before = words(kCount);
  plain.enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes(before), before.data());
  plain.finish();
  for (int round = 0; round < 4; ++round) {
    cl::UserEvent gate(context);
    const std::vector<cl::Event> wait{gate};
    const Words after = words(kCount);
    plain.enqueueWriteBuffer(buffer, CL_FALSE, 0, bytes(after), after.data(), &wait);
    Words got(kCount);
    other.enqueueReadBuffer(buffer, CL_TRUE, 0, bytes(got), got.data());
    ASSERT_EQ(got, before);
    gate.setStatus(CL_COMPLETE);
    ASSERT_EQ(sum_on_device(plain, buffer, kCount), sum_of(after));
    before = after;
  }
}

TEST_F(SharedMemory, BytesThatPassThroughHostMemoryKeepTheirOrder) {
  constexpr std::size_t kCount = 300'000;
  const cl::Buffer from(context, CL_MEM_READ_WRITE, kCount * 4);
  const cl::Buffer idle(context, CL_MEM_READ_WRITE, kCount * 4);
  plain.enqueueFillBuffer(idle, cl_uint{9}, 0, kCount * 4);
  Words expected = words(kCount);
  plain.enqueueWriteBuffer(from, CL_TRUE, 0, bytes(expected), expected.data());
  plain.finish();
  for (cl_uint round = 1; round < 5; ++round) {
    Words passed(kCount);
    add_on_device(plain, from, kCount, round);
    std::for_each(expected.begin(), expected.end(), [&](cl_uint& word) { word += round; });
    plain.enqueueReadBuffer(from, CL_FALSE, 0, bytes(passed), passed.data());  // in use: comes later
    plain.enqueueWriteBuffer(idle, CL_FALSE, 0, bytes(passed), passed.data()); // idle, but its bytes have not come
    plain.enqueueReadBuffer(from, CL_FALSE, 0, 4, passed.data());
    ASSERT_EQ(sum_on_device(plain, idle, kCount), sum_of(expected)) << round;
    plain.finish();
    ASSERT_EQ(passed, expected);
  }
}

TEST_F(SharedMemory, AFailureIsNotHiddenByAReadThatGoesPastTheServer) {
  constexpr std::size_t kCount = 50'000;
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE, kCount * 4);
  const Words sent = words(kCount);
  plain.enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes(sent), sent.data());
  plain.finish();
  cl::UserEvent gate(context);
  const std::vector<cl::Event> wait{gate};
  plain.enqueueMarkerWithWaitList(&wait); // fails, unseen
  gate.setStatus(-7);
  cl::Event later;
  plain.enqueueMarkerWithWaitList(nullptr, &later);
  later.wait();
  Words got(kCount);
  EXPECT_THROW(plain.enqueueReadBuffer(buffer, CL_TRUE, 0, bytes(got), got.data()), cl::Error);
  plain.enqueueReadBuffer(buffer, CL_TRUE, 0, bytes(got), got.data());
  EXPECT_EQ(got, sent);
}

TEST_F(SharedMemory, ABlockingReadInAnOrderedQueueComesBehindEverything) {
  const cl::Buffer idle(context, CL_MEM_READ_WRITE, 1u << 20);
  const cl::Buffer other(context, CL_MEM_READ_WRITE, 1u << 20);
  cl_uint value = 0;
  plain.enqueueReadBuffer(idle, CL_TRUE, 0, 4, &value);
  for (int round = 0; round < 20; ++round) {
    cl::Event done;
    add.setArg(0, other);
    add.setArg(1, cl_uint{1});
    plain.enqueueNDRangeKernel(add, cl::NullRange, cl::NDRange(1u << 18), cl::NullRange, nullptr, &done);
    plain.enqueueReadBuffer(idle, CL_TRUE, 0, 4, &value);
    EXPECT_EQ(done.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(), CL_COMPLETE);
  }
}

TEST_F(SharedMemory, TwoThreadsOnOneQueueNeverSeeHalfAKernel) {
  constexpr std::size_t kCount = 256u << 10;
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE, kCount * 4);
  plain.enqueueFillBuffer(buffer, cl_uint{0}, 0, kCount * 4);
  plain.finish();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    cl::Kernel own(program, "add");
    own.setArg(0, buffer);
    own.setArg(1, cl_uint{1});
    while (!stop) {
      for (int i = 0; i < 4; ++i) {
        plain.enqueueNDRangeKernel(own, cl::NullRange, cl::NDRange(kCount));
      }
      plain.finish();
    }
  });
  Words got(kCount);
  for (int round = 0; round < 40; ++round) {
    plain.enqueueReadBuffer(buffer, CL_TRUE, 0, bytes(got), got.data());
    EXPECT_TRUE(std::all_of(got.begin(), got.end(), [&](cl_uint word) { return word == got.front(); })) << round;
  }
  stop = true;
  writer.join();
}

TEST_F(SharedMemory, BuffersComeAndGoAndStartAsZeros) {
  for (int round = 0; round < 60; ++round) {
    const std::size_t count = (16u << 10) + random() % 200'000;
    const cl::Buffer buffer(context, CL_MEM_READ_WRITE, count * 4);
    ASSERT_EQ(sum_on_device(plain, buffer, count), 0u) << round;
    const Words sent = words(count);
    plain.enqueueWriteBuffer(buffer, CL_FALSE, 0, bytes(sent), sent.data());
    plain.finish();
  }
}

/// A random program on buffers of all sizes, beside a model of what they hold.
class RandomProgram {
public:
  RandomProgram(cl::Context context, std::vector<cl::CommandQueue> queues, cl::Kernel add, unsigned seed)
      : context_(std::move(context)), queues_(std::move(queues)), add_(std::move(add)), random_(seed) {
    for (const std::size_t count : {1024u, 16384u, 20000u, 100'000u, 700'000u}) {
      buffers_.emplace_back(context_, CL_MEM_READ_WRITE, count * 4);
      models_.emplace_back(count, 0);
    }
  }

  void run(int steps) {
    for (step_ = 0; step_ < steps && !::testing::Test::HasFailure(); ++step_) {
      target_ = below(buffers_.size());
      first_ = below(models_[target_].size());
      count_ = 1 + below(std::min<std::size_t>(models_[target_].size() - first_, below(3) == 0 ? 64 : 400'000));
      (this->*kActions[below(std::size(kActions))])();
      if (below(12) == 0) {
        settle();
      }
    }
    settle();
    for (target_ = 0; target_ < buffers_.size(); ++target_) {
      first_ = 0;
      count_ = models_[target_].size();
      read();
    }
  }

private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  /// All commands go to one queue until it is finished: the queues are not ordered among each other.
  cl::CommandQueue& queue() { return queues_[current_]; }
  Words::iterator begin() { return models_[target_].begin() + static_cast<std::ptrdiff_t>(first_); }
  Words::iterator end() { return begin() + static_cast<std::ptrdiff_t>(count_); }
  std::size_t offset() const { return first_ * 4; }
  std::size_t size() const { return count_ * 4; }
  void fill_model() { std::generate(begin(), end(), std::ref(random_)); }

  void settle() {
    queue().finish();
    for (const auto& [got, expected] : reads_) {
      EXPECT_TRUE(*got == expected) << "a read before step " << step_;
    }
    reads_.clear();
    sources_.clear();
    current_ = below(queues_.size());
  }
  void write() {
    fill_model();
    const Words copy(begin(), end());
    queue().enqueueWriteBuffer(buffers_[target_], CL_TRUE, offset(), size(), copy.data());
  }
  void write_later() {
    fill_model();
    sources_.push_back(std::make_unique<Words>(begin(), end()));
    cl::Event event;
    queue().enqueueWriteBuffer(buffers_[target_], CL_FALSE, offset(), size(), sources_.back()->data(), nullptr,
                               below(2) ? &event : nullptr);
  }
  void write_with_memory_of_a_read() { // what is read into the memory is written from it, in order
    if (reads_.empty()) {
      return;
    }
    auto& [memory, expected] = reads_.back();
    count_ = std::min(count_, memory->size());
    std::copy_n(expected.begin(), count_, begin());
    queue().enqueueWriteBuffer(buffers_[target_], CL_FALSE, offset(), size(), memory->data());
  }
  void read() {
    Words got(count_);
    queue().enqueueReadBuffer(buffers_[target_], CL_TRUE, offset(), size(), got.data());
    EXPECT_TRUE(std::equal(got.begin(), got.end(), begin())) << "step " << step_ << " buffer " << target_ << " at " << first_;
  }
  void read_later() {
    reads_.emplace_back(std::make_unique<Words>(count_), Words(begin(), end()));
    cl::Event event;
    queue().enqueueReadBuffer(buffers_[target_], CL_FALSE, offset(), size(), reads_.back().first->data(), nullptr,
                              below(2) ? &event : nullptr);
  }
  void map_and_write() {
    auto* pointer =
        static_cast<cl_uint*>(queue().enqueueMapBuffer(buffers_[target_], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, offset(), size()));
    EXPECT_TRUE(std::equal(begin(), end(), pointer)) << "step " << step_ << " buffer " << target_;
    fill_model();
    std::copy(begin(), end(), pointer);
    queue().enqueueUnmapMemObject(buffers_[target_], pointer);
  }
  void launch() {
    const cl_uint k = random_();
    add_.setArg(0, buffers_[target_]);
    add_.setArg(1, k);
    queue().enqueueNDRangeKernel(add_, cl::NullRange, cl::NDRange(models_[target_].size()));
    std::for_each(models_[target_].begin(), models_[target_].end(), [&](cl_uint& word) { word += k; });
  }
  void copy() {
    const std::size_t other = (target_ + 1) % buffers_.size();
    count_ = std::min(count_, models_[other].size());
    queue().enqueueCopyBuffer(buffers_[target_], buffers_[other], offset(), 0, size());
    std::copy(begin(), end(), models_[other].begin());
  }
  void fill() {
    const cl_uint pattern = random_();
    queue().enqueueFillBuffer(buffers_[target_], pattern, offset(), size());
    std::fill(begin(), end(), pattern);
  }
  void rect() { // every second row of a box
    const std::size_t rows = std::min<std::size_t>(10, models_[target_].size() / 100);
    Words host(rows * 25);
    std::generate(host.begin(), host.end(), std::ref(random_));
    queue().enqueueWriteBufferRect(buffers_[target_], CL_TRUE, {0, 0, 0}, {0, 0, 0}, {100, rows, 1}, 400, 0, 100, 0, host.data());
    for (std::size_t row = 0; row < rows; ++row) {
      std::copy_n(host.begin() + static_cast<std::ptrdiff_t>(row * 25), 25,
                  models_[target_].begin() + static_cast<std::ptrdiff_t>(row * 100));
    }
    Words got(rows * 25);
    queue().enqueueReadBufferRect(buffers_[target_], CL_TRUE, {0, 0, 0}, {0, 0, 0}, {100, rows, 1}, 400, 0, 100, 0, got.data());
    EXPECT_EQ(got, host);
  }
  void sub_buffer() {
    const cl_buffer_region half{0, models_[target_].size() / 2 * 4};
    cl::Buffer sub = buffers_[target_].createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &half);
    first_ = 0;
    count_ = half.size / 4;
    fill_model();
    const Words copy(begin(), end());
    queue().enqueueWriteBuffer(sub, CL_TRUE, 0, size(), copy.data());
    const cl_uint k = random_();
    add_.setArg(0, sub);
    add_.setArg(1, k);
    queue().enqueueNDRangeKernel(add_, cl::NullRange, cl::NDRange(count_));
    std::for_each(begin(), end(), [&](cl_uint& word) { word += k; });
  }

  static constexpr void (RandomProgram::* kActions[])() = {
      &RandomProgram::write,  &RandomProgram::write_later, &RandomProgram::write_with_memory_of_a_read,
      &RandomProgram::read,   &RandomProgram::read_later,  &RandomProgram::map_and_write,
      &RandomProgram::launch, &RandomProgram::launch,      &RandomProgram::copy,
      &RandomProgram::fill,   &RandomProgram::rect,        &RandomProgram::sub_buffer};

  cl::Context context_;
  std::vector<cl::CommandQueue> queues_;
  cl::Kernel add_;
  std::mt19937 random_;
  std::vector<cl::Buffer> buffers_;
  std::vector<Words> models_;
  std::vector<std::pair<std::unique_ptr<Words>, Words>> reads_; ///< what comes, what must come
  std::vector<std::unique_ptr<Words>> sources_;
  std::size_t current_ = 0;
  std::size_t target_ = 0;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  int step_ = 0;
};

TEST_F(SharedMemory, RandomProgramsDoWhatTheirModelSays) {
  for (unsigned seed = 1; seed <= 6 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgram(context, {plain, queue, cl::CommandQueue(context, device)}, cl::Kernel(program, "add"), seed).run(150);
  }
}

} // namespace
} // namespace farcl::end_to_end
