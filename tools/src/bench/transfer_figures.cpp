// Blocking writes and reads of 4 KiB to 256 MiB; what was read is compared with what was written.
#include "figures.hpp"

#include <cstring>
#include <vector>

namespace farcl::tools::bench {

namespace {
void fill(std::vector<char>& memory, unsigned seed) {
  for (std::size_t i = 0; i < memory.size(); i += 64) { // one byte of every cache line is enough to tell two fillings apart
    memory[i] = static_cast<char>(i / 64 * 31 + seed);
  }
}

std::size_t repetitions(std::size_t bytes, bool quick) {
  const std::size_t many = bytes > (std::size_t{1} << 20) ? 100 : 1000;
  return quick ? many / 10 : many;
}

Effort effort_for(std::size_t bytes, bool quick) {
  return {repetitions(bytes, quick), quick ? 0.2 : 2.0, bytes > (std::size_t{16} << 20) ? 1u : 5u};
}
} // namespace

void measure_transfers(const Session& session, const BenchOptions& options, Report& report) {
  for (std::size_t i = 0; i < kTransferSizes.size(); ++i) {
    const std::size_t bytes = kTransferSizes[i];
    cl_int status = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(session.context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    check(status, "clCreateBuffer");
    std::vector<char> source(bytes, 1);
    std::vector<char> destination(bytes, 2);
    fill(source, static_cast<unsigned>(i));
    report.bandwidth("write of " + size_text(bytes) + ", blocking",
                     collect(effort_for(bytes, options.quick),
                             [&] {
                               return timed([&] {
                                 check(clEnqueueWriteBuffer(session.queue, buffer, CL_TRUE, 0, bytes, source.data(), 0, nullptr, nullptr),
                                       "clEnqueueWriteBuffer");
                               });
                             }),
                     i);
    report.bandwidth("read of " + size_text(bytes) + ", blocking",
                     collect(effort_for(bytes, options.quick),
                             [&] {
                               return timed([&] {
                                 check(
                                     clEnqueueReadBuffer(session.queue, buffer, CL_TRUE, 0, bytes, destination.data(), 0, nullptr, nullptr),
                                     "clEnqueueReadBuffer");
                               });
                             }),
                     i);
    check(clReleaseMemObject(buffer), "clReleaseMemObject");
    if (std::memcmp(source.data(), destination.data(), bytes) != 0) {
      throw BenchFailure("a transfer of " + size_text(bytes) + " came back changed");
    }
  }
}

} // namespace farcl::tools::bench
