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

/// Waits until may_end() is true, but only as long as waking a thread that sleeps would take: some microseconds in a
/// loop, then about 200 µs in which others may use the CPU. Returns the last may_end().
template <typename MayEnd>
bool wait_awake(MayEnd&& may_end) {
  constexpr int kPauses = 100;
  constexpr int kYields = 300;
  for (int i = 0; i < kPauses + kYields; ++i) {
    if (may_end()) return true;
    if (i < kPauses) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
  return may_end();
}

/// Locks a mutex of the pool. Who holds it needs it for less than a microsecond, so it tries again before it sleeps.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int i = 0; i < 100 && !lock; ++i) {
    pause();
    (void)lock.try_lock();
  }
  if (!lock) lock.lock();
  return lock;
}

}  // namespace

/// A loop of parallel_for(), on the stack of its caller.
struct ThreadPool::Loop {
  std::size_t count;
  void (*body)(const void* object, std::size_t index);
  const void* object;
  std::atomic<std::size_t> next = 0;  ///< the first call that has not begun
  std::atomic<bool> has_fault = false;
  std::exception_ptr fault = {};  ///< written by the thread that sets has_fault

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

ThreadPool::ThreadPool(int threads, bool starts_one)
    : concurrency_(threads > 0 ? threads : logical_cpus()), waits_awake_(concurrency_ <= logical_cpus()), idle_(concurrency_) {
  threads_.reserve(static_cast<std::size_t>(concurrency_));
  const std::lock_guard lock(mutex_);
  if (starts_one) start_one();
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    ++changes_;
  }
  woken_.notify_all();
  threads_.clear();
}

/// The caller holds the mutex.
void ThreadPool::start_one() {
  ++looking_;
  try {
    threads_.push_back(start_thread([this] { work(); }));
  } catch (...) {
    --looking_;
    throw;
  }
  --idle_;
}

void ThreadPool::post(Task& task) noexcept {
  {
    const auto lock = lock_soon(mutex_);
    task.next = nullptr;
    (first_ != nullptr ? last_->next : first_) = &task;
    last_ = &task;
    ++waiting_;
  }
  ++changes_;
  wake();
}

ThreadPool::Task* ThreadPool::take_task() noexcept {
  if (waiting_ == 0) return nullptr;
  const auto lock = lock_soon(mutex_);
  if (first_ == nullptr) return nullptr;
  --waiting_;
  return std::exchange(first_, first_->next);
}

/// Makes this thread take part in a loop that has calls left. Returns null if there is none.
ThreadPool::LoopSlot* ThreadPool::join_loop() noexcept {
  for (LoopSlot& slot : loops_) {
    std::uint32_t state = slot.state;
    while ((state & LoopSlot::kOpen) != 0 && static_cast<int>(state & ~(LoopSlot::kTaken | LoopSlot::kOpen)) + 1 < concurrency_) {
      if (!slot.state.compare_exchange_weak(state, state + 1)) continue;
      if (slot.loop->next < slot.loop->count) return &slot;
      leave_loop(slot);
      break;
    }
  }
  return nullptr;
}

void ThreadPool::leave_loop(LoopSlot& slot) noexcept {
  slot.state &= ~LoopSlot::kOpen;  // no calls are left
  if (--slot.state == LoopSlot::kTaken) slot.state.notify_one();
}

/// Lets other threads take part in a loop. Returns null if too many loops run.
ThreadPool::LoopSlot* ThreadPool::open_loop(Loop& loop) noexcept {
  for (LoopSlot& slot : loops_) {
    std::uint32_t free = 0;
    if (slot.state != 0 || !slot.state.compare_exchange_strong(free, LoopSlot::kTaken)) continue;
    slot.loop = &loop;
    slot.state |= LoopSlot::kOpen;
    ++changes_;
    wake();
    return &slot;
  }
  return nullptr;
}

/// Waits until all other threads have left the loop.
void ThreadPool::close_loop(LoopSlot& slot) noexcept {
  std::uint32_t state = slot.state &= ~LoopSlot::kOpen;
  if (waits_awake_) wait_awake([&] { return (state = slot.state) == LoopSlot::kTaken; });
  for (; state != LoopSlot::kTaken; state = slot.state) slot.state.wait(state);
  slot.state = 0;
}

/// Returns how many threads could find work now. For an open loop, these are all.
int ThreadPool::waiting_work() const noexcept {
  for (const LoopSlot& slot : loops_) {
    if ((slot.state & LoopSlot::kOpen) != 0) return concurrency_;
  }
  return waiting_;
}

/// Sees to it that threads look for the work that waits, unless all are busy. Each of them then does the same, so no
/// thread need wake all others.
void ThreadPool::wake() noexcept {
  constexpr int kMostWakes = 2;
  for (int i = 0; i < kMostWakes && idle_ > 0 && looking_ < waiting_work(); ++i) {
    const auto lock = lock_soon(mutex_);
    if (asleep_ > 0) {
      --asleep_;
      --idle_;
      ++looking_;
      ++wakes_;
      woken_.notify_one();
    } else if (static_cast<int>(threads_.size()) < concurrency_) {
      try {
        start_one();
      } catch (...) {  // the threads that run do the work
        return;
      }
    } else {
      return;
    }
  }
}

/// Does the work that it finds. Returns false if there is none.
bool ThreadPool::do_work() noexcept {
  bool found = false;
  for (;;) {
    Task* const task = take_task();
    LoopSlot* const slot = task != nullptr ? nullptr : join_loop();
    if (task == nullptr && slot == nullptr) break;
    if (!found) --looking_;
    found = true;
    wake();
    if (task != nullptr) {
      task->run(*task);
    } else {
      slot->loop->take_part();
      leave_loop(*slot);
    }
  }
  if (found) ++looking_;
  return found;
}

void ThreadPool::sleep(std::uint64_t seen) noexcept {
  auto lock = lock_soon(mutex_);
  --looking_;
  ++asleep_;
  ++idle_;
  woken_.wait(lock, [&] { return wakes_ > 0 || changes_ != seen; });
  if (wakes_ > 0) {
    --wakes_;
  } else {
    --asleep_;
    --idle_;
    ++looking_;
  }
}

void ThreadPool::work() noexcept {
  pool_of_thread = this;
  for (;;) {
    const std::uint64_t seen = changes_;
    if (do_work()) continue;
    {
      const auto lock = lock_soon(mutex_);
      if (closed_) return;
    }
    if (!waits_awake_ || !wait_awake([&] { return changes_ != seen; })) sleep(seen);
  }
}

void ThreadPool::run_loop(std::size_t count, void (*body)(const void* object, std::size_t index), const void* object) {
  Loop loop{.count = count, .body = body, .object = object};
  LoopSlot* const slot = count == 1 || concurrency_ == 1 ? nullptr : open_loop(loop);
  loop.take_part();
  if (slot != nullptr) close_loop(*slot);
  if (loop.fault) std::rethrow_exception(loop.fault);
}

}  // namespace c63
