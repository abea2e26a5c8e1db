#include "spanloom/base/parallel.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace spanloom {
namespace {

using Body = std::function<void(std::size_t)>;

// The calls that are left to make.
class Job {
 public:
  Job(std::size_t n, const Body& body) : n_(n), body_(body) {}

  // Makes calls until there are none left.
  void work() {
    for (;;) {
      const std::size_t i = next_.fetch_add(1);
      if (i >= n_ || stop_.load(std::memory_order_relaxed)) return;
      try {
        body_(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        stop_ = true;
        return;
      }
    }
  }

  void finish() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::size_t n_;
  const Body& body_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;
  std::mutex mutex_;
};

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Threads that wait for work. One caller at a time has them. A caller waits for the threads that have begun, not for
// those that have not woken up yet: on a busy machine that may take longer than the work.
class Pool {
 public:
  explicit Pool(pid_t process) : process_(process) {}

  // The pool of this process: threads do not survive a fork.
  static Pool& own() {
    static std::atomic<Pool*> pool{nullptr};
    const pid_t process = getpid();
    Pool* known = pool.load();
    while (known == nullptr || known->process_ != process) {
      auto* made = new Pool(process);  // never deleted: its threads run until the process ends
      if (pool.compare_exchange_strong(known, made)) return *made;
      delete made;
    }
    return *known;
  }

  // False: somebody else has the threads.
  bool take() { return !taken_.exchange(true, std::memory_order_acquire); }
  void give_back() { taken_.store(false, std::memory_order_release); }

  // Runs a job with this thread and `others` more; only after take().
  void run(Job& job, std::size_t others) {
    {
      const std::lock_guard lock(mutex_);
      grow(others);
      job_ = &job;
      seats_ = others;
      number_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    seats_ = 0;
    done_.wait(lock, [&] { return active_ == 0; });
  }

 private:
  // So long a thread looks for the next job before it sleeps: loops follow one another closely in training, and waking
  // a thread takes longer than many of them.
  static constexpr std::chrono::microseconds kLook{50};

  // Fewer threads than wanted, where the system gives no more, do the same work.
  void grow(std::size_t wanted) {
    try {
      for (; threads_ < wanted; ++threads_) std::thread([this] { wait_and_work(); }).detach();
    } catch (const std::system_error&) {
      return;
    }
  }

  void wait_and_work() {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return seats_ > 0 && number_.load(std::memory_order_relaxed) != seen; });
      seen = number_.load(std::memory_order_relaxed);
      --seats_;
      ++active_;
      Job& job = *job_;
      lock.unlock();
      job.work();
      lock.lock();
      if (--active_ == 0) done_.notify_one();
      lock.unlock();
      look(seen);
      lock.lock();
    }
  }

  void look(std::uint64_t seen) const {
    const auto end = std::chrono::steady_clock::now() + kLook;
    while (number_.load(std::memory_order_acquire) == seen && std::chrono::steady_clock::now() < end) {
      for (int i = 0; i < 8; ++i) pause();
    }
  }

  pid_t process_;
  std::atomic<bool> taken_{false};
  std::atomic<std::uint64_t> number_{0};  // of the job
  std::mutex mutex_;                      // of all that follows
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  std::size_t threads_ = 0;
  std::size_t seats_ = 0;   // threads that may still join the job
  std::size_t active_ = 0;  // threads at work on it
};

void run_with_new_threads(Job& job, std::size_t others) {
  std::vector<std::thread> threads;
  threads.reserve(others);
  for (std::size_t i = 0; i < others; ++i) threads.emplace_back([&] { job.work(); });
  job.work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int thread_count(int requested) {
  if (requested > 0) return requested;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(std::size_t n, int threads, const Body& body) {
  const std::size_t workers = std::min<std::size_t>(n, static_cast<std::size_t>(thread_count(threads)));
  if (workers <= 1) {
    for (std::size_t i = 0; i < n; ++i) body(i);
    return;
  }
  Job job(n, body);
  if (Pool& pool = Pool::own(); pool.take()) {
    pool.run(job, workers - 1);
    pool.give_back();
  } else {
    run_with_new_threads(job, workers - 1);  // a call within a body, or of another thread
  }
  job.finish();
}

}  // namespace spanloom
