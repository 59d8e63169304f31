// ThreadPool: the threads of the CPU device, and how a job's pieces reach them.
//
// Threads: any number of pool threads and one submitter (the session thread). A job consists of pieces (work-groups) that
// threads take by an atomic counter, a few at a time. The mutex guards the list of jobs that still have pieces to hand out and
// is held only to join or leave a job. Whoever leaves a job last ends it. Threads sleep when nothing is left; a submit wakes
// one, and each one that finds more than it can take wakes the next: no storm for small jobs. The thread that ends a job stays
// awake for about a wake-up's time: the next command of an in-order queue comes as soon as the session thread has been woken.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace farcl::daemon {

class ThreadScratch;

/// What a pool thread runs. The pool calls begin once, before the first piece, and end once, after the last one.
class Job {
public:
  virtual ~Job() = default;
  virtual void begin() = 0;
  virtual void run(std::uint64_t first, std::uint64_t last, ThreadScratch& scratch) = 0;
  virtual void end() = 0;

  std::uint64_t pieces = 1;
  std::uint64_t pieces_at_once = 1;

private:
  friend class ThreadPool;
  std::atomic<std::uint64_t> next_{0};
  unsigned running_ = 0; ///< threads inside; guarded by the pool's mutex
  bool begun_ = false;
  bool listed_ = true;
};

class ThreadPool {
public:
  /// The threads start with the first job.
  explicit ThreadPool(unsigned threads) : wanted_(threads == 0 ? 1 : threads) {}
  ~ThreadPool() { stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] unsigned size() const noexcept { return wanted_; }
  void submit(std::shared_ptr<Job> job);
  /// Waits for the pieces that run; what has not started never does.
  void stop();

private:
  void start_threads();
  void work();
  void await_next(std::uint32_t seen) const;
  [[nodiscard]] std::shared_ptr<Job> join_job(std::unique_lock<std::mutex>& lock);
  /// True if the caller was the last one: it ends the job.
  [[nodiscard]] bool leave_job(Job& job, std::unique_lock<std::mutex>& lock);

  const unsigned wanted_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> jobs_; ///< guarded by mutex_
  unsigned sleeping_ = 0;                 ///< guarded by mutex_
  bool stopping_ = false;                 ///< guarded by mutex_
  std::atomic<std::uint32_t> submitted_{0};
  std::vector<std::thread> threads_; ///< the submitter's
};

} // namespace farcl::daemon
