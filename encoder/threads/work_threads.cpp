#include "threads/work_threads.h"

#include <algorithm>

#include "threads/start_thread.h"

namespace c63 {

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

WorkThreads::WorkThreads(ThreadArena& arena, std::size_t capacity) : arena_(arena), queue_(std::make_shared<Queue>()) {
  queue_->ring.resize(capacity);
  threads_.reserve(static_cast<std::size_t>(arena.places_kept()));
  for (int i = 0; i < arena.places_kept(); ++i) {
    try {
      threads_.push_back(start_thread([this] { work(); }));
    } catch (...) {
      if (threads_.empty()) throw;
      break;  // fewer do the same work
    }
  }
}

WorkThreads::~WorkThreads() {
  std::unique_lock lock(queue_->mutex);
  queue_->closed = true;
  queue_->posted.notify_all();
  queue_->ended.wait(lock, [this] { return queue_->done == queue_->count; });
}

void WorkThreads::post(const Task& task) noexcept {
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->ring[queue_->count++ % queue_->ring.size()] = task;
    if (queue_->waiting > queue_->woken) {
      ++queue_->woken;
      queue_->posted.notify_one();
      return;
    }
  }
  try {
    arena_.enqueue([queue = queue_] {
      std::unique_lock lock(queue->mutex);
      queue->take(lock, [](const Task& taken) { taken.run(taken.object, taken.argument); });
    });
  } catch (...) {  // no memory to call a worker with
  }
}

void WorkThreads::work() noexcept {
  const auto run = [this](const Task& task) {
    bool begun = false;
    try {
      arena_.execute([&] {
        begun = true;
        task.run(task.object, task.argument);
      });
    } catch (...) {
      if (!begun) task.run(task.object, task.argument);  // no memory to enter the arena with: alone, then
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
