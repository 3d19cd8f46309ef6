#include "threads/work_threads.h"

#include <algorithm>

#include "threads/start_thread.h"

namespace c63 {

WorkThreads::WorkThreads(ThreadArena& arena, int threads, std::size_t capacity) : arena_(arena), ring_(capacity) {
  threads_.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    try {
      threads_.push_back(start_thread([this] { work(); }));
    } catch (...) {
      if (threads_.empty()) throw;
      break;  // fewer do the same work
    }
  }
}

WorkThreads::~WorkThreads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  posted_.notify_all();
}

void WorkThreads::post(const Task& task) noexcept {
  {
    const std::lock_guard lock(mutex_);
    ring_[count_ % ring_.size()] = task;
    ++count_;
  }
  posted_.notify_one();
}

void WorkThreads::run(const Task& task) noexcept {
  bool begun = false;
  try {
    arena_.execute([&] {
      begun = true;
      task.run(task.object, task.argument);
    });
  } catch (...) {
    if (!begun) task.run(task.object, task.argument);  // no memory to enter the arena with: alone, then
  }
}

void WorkThreads::work() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    posted_.wait(lock, [this] { return begun_ < count_ || ending_; });
    if (begun_ == count_) return;
    const Task task = ring_[begun_ % ring_.size()];
    ++begun_;
    lock.unlock();
    run(task);
    lock.lock();
  }
}

}  // namespace c63
