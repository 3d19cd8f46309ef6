#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "c63/thread_arena.h"

namespace c63 {

/// Threads that take tasks, first posted first begun, and run each as one of an arena's threads. Posting cannot fail, so
/// that whoever counts tasks is never left waiting for one that was not started.
class WorkThreads {
 public:
  struct Task {
    void (*run)(void* object, std::size_t argument) noexcept = nullptr;
    void* object = nullptr;
    std::size_t argument = 0;
  };

  /// Starts `threads` threads, or as many of them as the system lets it start; throws Error (limit, C63-THREADS) where
  /// that is none. At most `capacity` tasks may be posted and not yet begun.
  WorkThreads(ThreadArena& arena, int threads, std::size_t capacity);
  /// Waits for all tasks that were posted.
  ~WorkThreads();
  WorkThreads(const WorkThreads&) = delete;
  WorkThreads& operator=(const WorkThreads&) = delete;

  [[nodiscard]] int threads() const { return static_cast<int>(threads_.size()); }

  void post(const Task& task) noexcept;

 private:
  void work() noexcept;
  void run(const Task& task) noexcept;

  ThreadArena& arena_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::vector<Task> ring_;      ///< task number n is at n modulo its size
  std::size_t count_ = 0;       ///< tasks posted
  std::size_t begun_ = 0;
  bool ending_ = false;
  std::vector<std::jthread> threads_;  ///< last: they use all of the above
};

}  // namespace c63
