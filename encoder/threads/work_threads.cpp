#include "threads/work_threads.h"

#include <algorithm>

#include "threads/start_thread.h"

namespace c63 {
namespace {

thread_local bool is_own_thread = false;

}  // namespace

template <typename Run>
bool WorkThreads::Queue::take(std::unique_lock<std::mutex>& lock, Run&& run) noexcept {
  if (begun == count) return false;
  const Task task = ring[begun++ % ring.size()];
  lock.unlock();
  run(task);
  lock.lock();
  if (++done == count) ended.notify_all();
  return true;
}

/// Unused queues.
struct WorkThreads::SpareQueues {
  std::mutex mutex;
  std::vector<std::unique_ptr<Queue>> queues;

  static SpareQueues& of_process() {
    // The list is never destroyed, because a worker may still arrive while the process ends.
    static auto* const spare = new SpareQueues;
    return *spare;
  }
  std::unique_ptr<Queue> take() {
    const std::lock_guard lock(mutex);
    if (queues.empty()) return std::make_unique<Queue>();
    auto queue = std::move(queues.back());
    queues.pop_back();
    return queue;
  }
  void put(std::unique_ptr<Queue> queue) noexcept {
    {
      const std::lock_guard lock(queue->mutex);
      ++queue->generation;
      queue->count = queue->begun = queue->done = 0;
      queue->waiting = queue->woken = 0;
      queue->closed = false;
    }
    const std::lock_guard lock(mutex);
    try {
      queues.push_back(std::move(queue));
    } catch (...) {
      static_cast<void>(queue.release());  // not enough memory to keep it, but a worker may still arrive
    }
  }
};

WorkThreads::WorkThreads(ThreadArena& arena, std::size_t capacity) : arena_(arena), queue_(SpareQueues::of_process().take()) {
  try {
    start(capacity);
  } catch (...) {
    SpareQueues::of_process().put(std::move(queue_));
    throw;
  }
}

void WorkThreads::start(std::size_t capacity) {
  queue_->ring.resize(capacity);
  threads_.reserve(static_cast<std::size_t>(arena_.places_kept()));
  for (int i = 0; i < arena_.places_kept(); ++i) {
    try {
      threads_.push_back(start_thread([this] { work(); }));
    } catch (...) {
      if (threads_.empty()) throw;
      break;  // the threads that were started can do the work
    }
  }
}

WorkThreads::~WorkThreads() {
  {
    std::unique_lock lock(queue_->mutex);
    queue_->closed = true;
    queue_->posted.notify_all();
    queue_->ended.wait(lock, [this] { return queue_->done == queue_->count; });
  }
  threads_.clear();
  SpareQueues::of_process().put(std::move(queue_));
}

void WorkThreads::post(const Task& task) noexcept {
  std::uint64_t generation = 0;
  {
    const std::lock_guard lock(queue_->mutex);
    generation = queue_->generation;
    queue_->ring[queue_->count++ % queue_->ring.size()] = task;
    if (queue_->waiting > queue_->woken) {
      ++queue_->woken;
      queue_->posted.notify_one();
      return;
    }
  }
  // If all places of the arena are reserved for other threads, it has no place for a worker. But enqueue() would send a
  // worker even then, so it must not be called.
  if (arena_.places_kept() >= arena_.concurrency()) return;
  try {
    arena_.enqueue([queue = queue_.get(), generation] {
      std::unique_lock lock(queue->mutex);
      if (queue->generation != generation) return;
      queue->take(lock, [](const Task& taken) { taken.run(taken.object, taken.argument); });
    });
  } catch (...) {  // not enough memory to call a worker
  }
}

bool WorkThreads::should_yield() const {
  const std::lock_guard lock(queue_->mutex);
  return !is_own_thread && queue_->waiting > queue_->woken;
}

void WorkThreads::work() noexcept {
  is_own_thread = true;
  const auto run = [this](const Task& task) {
    bool begun = false;
    try {
      arena_.execute([&] {
        begun = true;
        task.run(task.object, task.argument);
      });
    } catch (...) {
      // Not enough memory to enter the arena, so the task runs outside it.
      if (!begun) task.run(task.object, task.argument);
    }
  };
  Queue& queue = *queue_;
  std::unique_lock lock(queue.mutex);
  for (;;) {
    while (queue.take(lock, run)) {
    }
    if (queue.closed) return;
    ++queue.waiting;
    queue.posted.wait(lock, [&] { return queue.woken > 0 || queue.closed; });
    --queue.waiting;
    queue.woken = std::max(0, queue.woken - 1);
  }
}

}  // namespace c63
