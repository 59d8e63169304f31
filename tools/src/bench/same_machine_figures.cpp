// Transfers over a Unix socket, whose limit is a memcpy: into a buffer that nothing uses, into one that pending commands use, and by
// mapping. Both the program's memory and the place in the buffer rotate over 256 MiB; contents change with every round and are checked.
#include "figures.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace farcl::tools::bench {

namespace {
constexpr std::size_t kRotateBytes = std::size_t{256} << 20;
constexpr std::size_t kFirstIndex = 1; ///< 64 KiB, of kTransferSizes
constexpr std::size_t kLastIndex = 3;  ///< 16 MiB

class Rotating {
public:
  Rotating(const Session& session, std::size_t size) : session_(session), size_(size), memory_(kRotateBytes, 1) {
    cl_int status = CL_SUCCESS;
    buffer_ = clCreateBuffer(session.context, CL_MEM_READ_WRITE, kRotateBytes, nullptr, &status);
    check(status, "clCreateBuffer");
  }
  ~Rotating() { clReleaseMemObject(buffer_); }
  Rotating(const Rotating&) = delete;
  Rotating& operator=(const Rotating&) = delete;

  [[nodiscard]] std::size_t rounds() const { return kRotateBytes / size_; }

  double write() {
    std::memset(next(), static_cast<int>(++stamp_), 1);
    return timed([&] {
      check(clEnqueueWriteBuffer(session_.queue, buffer_, CL_TRUE, at_, size_, here(), 0, nullptr, nullptr), "clEnqueueWriteBuffer");
    });
  }
  double read() {
    next();
    return timed([&] {
      check(clEnqueueReadBuffer(session_.queue, buffer_, CL_TRUE, at_, size_, here(), 0, nullptr, nullptr), "clEnqueueReadBuffer");
    });
  }
  double map_and_unmap() {
    next();
    return timed([&] {
      cl_int status = CL_SUCCESS;
      void* mapped =
          clEnqueueMapBuffer(session_.queue, buffer_, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, at_, size_, 0, nullptr, nullptr, &status);
      check(status, "clEnqueueMapBuffer");
      check(clEnqueueUnmapMemObject(session_.queue, buffer_, mapped, 0, nullptr, nullptr), "clEnqueueUnmapMemObject");
    });
  }
  /// A kernel that uses the buffer and has not ended, as far as the program knows.
  void launch() {
    check(clSetKernelArg(session_.add, 0, sizeof buffer_, &buffer_), "clSetKernelArg");
    session_.set_amount(0);
    session_.launch(session_.queue, session_.add);
  }
  void verify() {
    std::vector<char> seen(size_);
    check(clEnqueueReadBuffer(session_.queue, buffer_, CL_TRUE, at_, size_, seen.data(), 0, nullptr, nullptr), "clEnqueueReadBuffer");
    if (std::memcmp(seen.data(), here(), size_) != 0) {
      throw BenchFailure("a transfer of " + size_text(size_) + " came back changed");
    }
  }
  void finish() { check(clFinish(session_.queue), "clFinish"); }

private:
  char* next() {
    at_ = (at_ + size_) % kRotateBytes;
    return here();
  }
  char* here() { return memory_.data() + at_; }

  const Session& session_;
  std::size_t size_;
  std::vector<char> memory_;
  cl_mem buffer_ = nullptr;
  std::size_t at_ = 0;
  unsigned stamp_ = 0;
};

template <class Once>
Sample repeat(std::size_t count, const Once& once) {
  Sample sample;
  for (std::size_t i = 0; i < count; ++i) {
    sample.add(once());
  }
  return sample;
}
} // namespace

void measure_same_machine(const Session& session, const BenchOptions& options, Report& report) {
  for (std::size_t i = kFirstIndex; i <= kLastIndex; ++i) {
    const std::string size = size_text(kTransferSizes[i]);
    Rotating rotating(session, kTransferSizes[i]);
    const std::size_t count = std::min<std::size_t>(rotating.rounds() * (options.quick ? 1 : 3), 2000);
    (void)rotating.write();
    rotating.finish();
    report.bandwidth("first write of " + size + ", untouched memory", repeat(rotating.rounds(), [&] { return rotating.write(); }), i);
    report.bandwidth("write of " + size + ", idle buffer", repeat(count, [&] { return rotating.write(); }), i);
    rotating.verify();
    report.bandwidth("read of " + size + ", idle buffer", repeat(count, [&] { return rotating.read(); }), i);
    report.bandwidth("write of " + size + ", buffer in use",
                     repeat(count,
                            [&] {
                              rotating.launch();
                              return rotating.write();
                            }),
                     i);
    rotating.verify();
    report.bandwidth("read of " + size + ", buffer in use",
                     repeat(count,
                            [&] {
                              rotating.launch();
                              return rotating.read();
                            }),
                     i);
    report.time("map and unmap of " + size + ", blocking", repeat(count, [&] { return rotating.map_and_unmap(); }));
  }
  check(clSetKernelArg(session.add, 0, sizeof session.counter, &session.counter), "clSetKernelArg");
}

} // namespace farcl::tools::bench
