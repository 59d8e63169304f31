#include "daemon/backends/cpu/thread_pool.hpp"

#include "daemon/backends/cpu/alternate_stack.hpp"
#include "daemon/backends/cpu/launch.hpp"

#include <algorithm>
#include <chrono>

namespace farcl::daemon {

namespace {
constexpr auto kAwakeAfterJob = std::chrono::microseconds(80);
} // namespace

void ThreadPool::submit(std::shared_ptr<Job> job) {
  if (threads_.empty()) {
    start_threads();
  }
  bool wake = false;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    jobs_.push_back(std::move(job));
    submitted_.fetch_add(1, std::memory_order_release);
    wake = sleeping_ != 0;
  }
  if (wake) {
    wake_.notify_one();
  }
}

void ThreadPool::start_threads() {
  threads_.reserve(wanted_);
  for (unsigned i = 0; i < wanted_; ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

std::shared_ptr<Job> ThreadPool::join_job(std::unique_lock<std::mutex>& lock) {
  while (jobs_.empty() && !stopping_) {
    ++sleeping_;
    wake_.wait(lock);
    --sleeping_;
  }
  if (stopping_) {
    return nullptr;
  }
  auto job = jobs_.front();
  if (!job->begun_) {
    job->begun_ = true;
    job->begin();
  }
  ++job->running_;
  const bool more_than_mine = jobs_.size() > 1 || job->next_.load(std::memory_order_relaxed) + job->pieces_at_once < job->pieces;
  if (!more_than_mine) {
    jobs_.pop_front(); // nobody else needs to come
    job->listed_ = false;
  } else if (sleeping_ != 0) {
    wake_.notify_one();
  }
  return job;
}

bool ThreadPool::leave_job(Job& job, std::unique_lock<std::mutex>&) {
  if (job.listed_) {
    jobs_.erase(std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& one) { return one.get() == &job; }));
    job.listed_ = false;
  }
  return --job.running_ == 0;
}

void ThreadPool::work() {
  use_alternate_stack();
  ThreadScratch scratch;
  std::unique_lock<std::mutex> lock(mutex_);
  while (auto job = join_job(lock)) {
    lock.unlock();
    for (std::uint64_t first = 0; (first = job->next_.fetch_add(job->pieces_at_once, std::memory_order_relaxed)) < job->pieces;) {
      job->run(first, std::min(first + job->pieces_at_once, job->pieces), scratch);
    }
    lock.lock();
    if (leave_job(*job, lock)) {
      lock.unlock();
      const std::uint32_t seen = submitted_.load(std::memory_order_acquire);
      job->end();
      job.reset();
      await_next(seen);
      lock.lock();
    }
  }
}

void ThreadPool::await_next(std::uint32_t seen) const {
  const auto until = std::chrono::steady_clock::now() + kAwakeAfterJob;
  while (submitted_.load(std::memory_order_acquire) == seen && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield(); // whoever waits for this core is more important
  }
}

void ThreadPool::stop() {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

} // namespace farcl::daemon
