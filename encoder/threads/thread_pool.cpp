#include "c63/thread_pool.h"

#include <algorithm>
#include <exception>

#include "threads/start_thread.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace c63 {
namespace {

thread_local ThreadPool* pool_of_thread = nullptr;

int logical_cpus() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/// Tells the CPU that this thread waits in a loop.
void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How many times a thread looks whether there is something to do before it sleeps, which is for about 20 µs: waking a
/// thread takes longer than the next frame often needs to arrive. If there are more threads than CPUs, it looks only
/// once: another thread needs the CPU.
int most_looks(int threads) {
  static const int cpus = logical_cpus();
  return threads > cpus ? 1 : 500;
}

/// Locks a mutex of the pool. Who holds it needs it for less than a microsecond, so it tries again before it sleeps.
void lock_soon(std::unique_lock<std::mutex>& lock) {
  for (int i = 0; i < 100; ++i) {
    if (lock.try_lock()) return;
    pause();
  }
  lock.lock();
}
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  lock_soon(lock);
  return lock;
}

}  // namespace

/// A loop of parallel_for(), on the stack of its caller. The mutex of the pool guards `helpers` and `later`.
struct ThreadPool::Loop {
  std::size_t count;
  void (*body)(const void* object, std::size_t index);
  const void* object;
  std::atomic<std::size_t> next = 0;    ///< the first call that has not begun
  std::atomic<bool> has_fault = false;
  std::exception_ptr fault = {};        ///< written by the thread that sets has_fault
  std::atomic<int> helpers = 0;         ///< threads that take part, without the caller
  std::condition_variable ended = {};   ///< notified when the last helper has left
  Loop* later = nullptr;

  void take_part() noexcept {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        body(object, i);
      } catch (...) {
        if (!has_fault.exchange(true)) fault = std::current_exception();
        next = count;
      }
    }
  }
};

ThreadPool::Use::Use(ThreadPool& pool) : before(std::exchange(pool_of_thread, &pool)) {}
ThreadPool::Use::~Use() { pool_of_thread = before; }

ThreadPool& ThreadPool::current() {
  if (pool_of_thread != nullptr) return *pool_of_thread;
  // Never destroyed, because threads may use it while the process ends. It gets no tasks, so it needs no thread.
  static auto* const of_process = new ThreadPool(0, false);
  return *of_process;
}

ThreadPool::ThreadPool(int threads) : ThreadPool(threads, true) {}

ThreadPool::ThreadPool(int threads, bool starts_one) : concurrency_(threads > 0 ? threads : logical_cpus()) {
  threads_.reserve(static_cast<std::size_t>(concurrency_));
  const std::lock_guard lock(mutex_);
  if (starts_one) start_one();
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  woken_.notify_all();
  threads_.clear();
}

void ThreadPool::start_one() {
  threads_.push_back(start_thread([this] { work(); }));
  ++looking_;
}

void ThreadPool::post(Task& task) noexcept {
  const auto lock = lock_soon(mutex_);
  task.next = nullptr;
  (first_ != nullptr ? last_->next : first_) = &task;
  last_ = &task;
  ++changes_;
  wake();
}

/// Sees to it that a thread takes work soon, unless all are busy. The thread then does the same if there is more work,
/// so one thread need not wake all others.
void ThreadPool::wake() noexcept {
  if (looking_ > 0) return;
  if (asleep_ > 0) {
    --asleep_;
    ++looking_;
    ++wakes_;
    woken_.notify_one();
  } else if (static_cast<int>(threads_.size()) < concurrency_) {
    try {
      start_one();
    } catch (...) {  // the threads that run do the work
    }
  }
}

/// Returns the oldest loop in which one more thread may take part, or null. Other threads take calls meanwhile, so it
/// may have none left a moment later.
ThreadPool::Loop* ThreadPool::open_loop() const {
  for (Loop* loop = loops_; loop != nullptr; loop = loop->later) {
    if (loop->next < loop->count && loop->helpers + 1 < concurrency_) return loop;
  }
  return nullptr;
}

/// Does one piece of work, and releases the mutex meanwhile. Returns false if there is none.
bool ThreadPool::take_work(std::unique_lock<std::mutex>& lock) noexcept {
  if (first_ != nullptr) {
    Task& task = *std::exchange(first_, first_->next);
    if (has_work()) wake();
    lock.unlock();
    task.run(task);
    lock_soon(lock);
    return true;
  }
  Loop* const loop = open_loop();
  if (loop == nullptr) return false;
  ++loop->helpers;
  if (has_work()) wake();
  lock.unlock();
  loop->take_part();
  lock_soon(lock);
  if (--loop->helpers == 0) loop->ended.notify_one();
  return true;
}

/// Waits a moment for work. Returns true if some may have come. The mutex is released meanwhile.
bool ThreadPool::look_for_work(std::unique_lock<std::mutex>& lock) const noexcept {
  const std::uint64_t seen = changes_;
  lock.unlock();
  for (int i = most_looks(concurrency_); i > 0 && changes_ == seen; --i) pause();
  lock_soon(lock);
  return changes_ != seen;
}

void ThreadPool::work() noexcept {
  pool_of_thread = this;
  auto lock = lock_soon(mutex_);
  for (;;) {
    if (has_work()) {
      --looking_;
      while (take_work(lock)) {
      }
      ++looking_;
    }
    if (closed_) return;
    if (look_for_work(lock)) continue;
    --looking_;
    ++asleep_;
    woken_.wait(lock, [this] { return wakes_ > 0 || closed_; });
    if (closed_) return;
    --wakes_;
  }
}

void ThreadPool::run_loop(std::size_t count, void (*body)(const void* object, std::size_t index), const void* object) {
  Loop loop{.count = count, .body = body, .object = object};
  if (count == 1 || concurrency_ == 1) {
    loop.take_part();
  } else {
    Loop** end = &loops_;
    {
      const auto lock = lock_soon(mutex_);
      while (*end != nullptr) end = &(*end)->later;
      *end = &loop;
      ++changes_;
      wake();
    }
    loop.take_part();
    for (int i = most_looks(concurrency_); i > 0 && loop.helpers > 0; --i) pause();
    auto lock = lock_soon(mutex_);
    for (end = &loops_; *end != &loop; end = &(*end)->later) {
    }
    *end = loop.later;
    loop.ended.wait(lock, [&] { return loop.helpers == 0; });
  }
  if (loop.fault) std::rethrow_exception(loop.fault);
}

}  // namespace c63
