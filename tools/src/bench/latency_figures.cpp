// Small commands: one at a time, and many in a row. Each figure exists for a kernel that does nothing and for one that adds a
// changing argument to a counter whose final value is checked, so that nothing can be won by not doing the work.
#include "figures.hpp"

#include <chrono>
#include <thread>
#include <vector>

namespace farcl::tools::bench {

namespace {
constexpr std::size_t kBurst = 10000;
constexpr std::size_t kChain = 1000;

// Hands out the amounts to add and knows what the counter must be.
class Counter {
public:
  explicit Counter(const Session& session) : session_(session), expected_(session.read_counter()) {}
  void set_next_amount() {
    amount_ = amount_ % 997 + 1;
    session_.set_amount(amount_);
    expected_ += amount_; // wraps around like the device's
  }
  void verify(const char* figure) const {
    if (const cl_uint got = session_.read_counter(); got != expected_) {
      throw BenchFailure(std::string(figure) + ": the counter is " + std::to_string(got) + " and should be " + std::to_string(expected_));
    }
  }

private:
  const Session& session_;
  cl_uint amount_ = 0;
  cl_uint expected_ = 0;
};

void finish(cl_command_queue queue) { check(clFinish(queue), "clFinish"); }

double chain_by_events(const Session& session, cl_kernel kernel, Counter* counter) {
  std::vector<cl_event> events(kChain);
  const double time = timed([&] {
    for (std::size_t i = 0; i < kChain; ++i) {
      if (counter != nullptr) {
        counter->set_next_amount();
      }
      session.launch(session.out_of_order, kernel, i > 0 ? 1 : 0, i > 0 ? &events[i - 1] : nullptr, &events[i]);
    }
    finish(session.out_of_order);
  });
  for (cl_event event : events) {
    clReleaseEvent(event);
  }
  return time;
}
} // namespace

namespace {
/// Long enough for a worker to stop spinning and sleep.
constexpr std::chrono::milliseconds kUntilAsleep{2};

void write_word(const Session& session, cl_mem buffer, cl_uint word) {
  check(clEnqueueWriteBuffer(session.queue, buffer, CL_TRUE, 0, sizeof word, &word, 0, nullptr, nullptr), "clEnqueueWriteBuffer");
}

// From the status of a user event to the return of the wait for a kernel that waits for it.
double release_by_user_event(const Session& session) {
  cl_int status = CL_SUCCESS;
  cl_event gate = clCreateUserEvent(session.context, &status);
  check(status, "clCreateUserEvent");
  cl_event done = nullptr;
  session.launch(session.queue, session.empty, 1, &gate, &done);
  check(clFlush(session.queue), "clFlush");
  const double time = timed([&] {
    check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
    check(clWaitForEvents(1, &done), "clWaitForEvents");
  });
  clReleaseEvent(done);
  clReleaseEvent(gate);
  return time;
}

void measure_words(const Session& session, const BenchOptions& options, Report& report) {
  cl_int status = CL_SUCCESS;
  cl_mem buffer = clCreateBuffer(session.context, CL_MEM_READ_WRITE, sizeof(cl_uint), nullptr, &status);
  check(status, "clCreateBuffer");
  cl_uint word = 1;
  report.time("write of 4 bytes, blocking", collect(options.effort(2000), [&] {
                ++word;
                return timed([&] { write_word(session, buffer, word); });
              }));
  Effort rare = options.effort(400);
  rare.warm_up = 10;
  report.time("write of 4 bytes, blocking, server asleep", collect(rare, [&] {
                ++word;
                std::this_thread::sleep_for(kUntilAsleep);
                return timed([&] { write_word(session, buffer, word); });
              }));
  cl_uint got = 0;
  report.time("read of 4 bytes, blocking", collect(options.effort(2000), [&] {
                return timed([&] {
                  check(clEnqueueReadBuffer(session.queue, buffer, CL_TRUE, 0, 4, &got, 0, nullptr, nullptr), "clEnqueueReadBuffer");
                });
              }));
  if (got != word) {
    throw BenchFailure("a 4-byte read gave " + std::to_string(got) + " and should give " + std::to_string(word));
  }
  check(clReleaseMemObject(buffer), "clReleaseMemObject");
}
} // namespace

void measure_latency(const Session& session, const BenchOptions& options, Report& report) {
  report.time("empty kernel, clFinish", collect(options.effort(2000), [&] {
                return timed([&] {
                  session.launch(session.queue, session.empty);
                  finish(session.queue);
                });
              }));
  Counter counter(session);
  report.time("counter kernel with a new argument, clFinish", collect(options.effort(2000), [&] {
                return timed([&] {
                  counter.set_next_amount();
                  session.launch(session.queue, session.add);
                  finish(session.queue);
                });
              }));
  counter.verify("counter kernel");
  measure_words(session, options, report);
  report.time("user event set, kernel behind it, wait", collect(options.effort(2000), [&] { return release_by_user_event(session); }));
}

void measure_throughput(const Session& session, const BenchOptions& options, Report& report) {
  Effort effort = options.effort(50);
  effort.warm_up = 2;
  report.rate("10,000 empty kernels, clFinish",
              collect(effort,
                      [&] {
                        return timed([&] {
                          for (std::size_t i = 0; i < kBurst; ++i) {
                            session.launch(session.queue, session.empty);
                          }
                          finish(session.queue);
                        });
                      }),
              kBurst);
  Counter counter(session);
  report.rate("10,000 counter kernels with new arguments",
              collect(effort,
                      [&] {
                        return timed([&] {
                          for (std::size_t i = 0; i < kBurst; ++i) {
                            counter.set_next_amount();
                            session.launch(session.queue, session.add);
                          }
                          finish(session.queue);
                        });
                      }),
              kBurst);
  counter.verify("10,000 counter kernels");
  if (session.out_of_order == nullptr) {
    report.skip("1,000 kernels chained by events", "this device has no out-of-order queue");
    return;
  }
  report.time("1,000 empty kernels chained by events, each",
              collect(effort, [&] { return chain_by_events(session, session.empty, nullptr); }), kChain);
  report.time("1,000 counter kernels chained by events, each",
              collect(effort, [&] { return chain_by_events(session, session.add, &counter); }), kChain);
  counter.verify("chained counter kernels");
}

} // namespace farcl::tools::bench
