#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "c63/thread_arena.h"

namespace c63 {

/// Runs tasks on threads of an arena, in the order in which they were posted. It has its own threads, in the places
/// that the arena reserves for them; these threads take tasks first. If they are busy, oneTBB's workers take tasks. If
/// oneTBB has no worker, or no memory to call one, the own threads do all the work. So post() cannot fail, and every
/// task is run.
class WorkThreads {
 public:
  struct Task {
    void (*run)(void* object, std::size_t argument) noexcept = nullptr;
    void* object = nullptr;
    std::size_t argument = 0;
  };

  /// At most `capacity` tasks may be posted and not yet begun. Throws Error (limit, C63-THREADS) if no thread can be started.
  WorkThreads(ThreadArena& arena, std::size_t capacity);
  /// Waits until all posted tasks have ended.
  ~WorkThreads();
  WorkThreads(const WorkThreads&) = delete;
  WorkThreads& operator=(const WorkThreads&) = delete;

  void post(const Task& task) noexcept;

  /// Returns true if a task should end and post a new task for the rest of its work. This is so if a worker of oneTBB
  /// runs the task while one of the own threads waits. Only workers can take part in parallel loops of other tasks. So
  /// on a machine with few CPUs, the own thread should take the rest of the task, and the worker should become free.
  [[nodiscard]] bool should_yield() const;

 private:
  /// The state that is shared with the arena's workers. A worker may still come after this object is destroyed, so
  /// queues are kept and reused. The generation tells the worker whether it was called for this object or for an
  /// earlier user of the queue.
  struct Queue {
    std::mutex mutex;
    std::condition_variable posted;
    std::condition_variable ended;
    std::vector<Task> ring;  ///< task number n is in ring[n modulo the size]
    std::uint64_t generation = 0;
    std::size_t count = 0;   ///< tasks that were posted
    std::size_t begun = 0;
    std::size_t done = 0;
    int waiting = 0;   ///< own threads that wait for a task
    int woken = 0;     ///< waiting threads that were woken but do not run yet
    bool closed = false;

    /// Begins the next task, if there is one, and calls `run` for it. The mutex must be held; it is released during the
    /// call.
    template <typename Run>
    bool take(std::unique_lock<std::mutex>& lock, Run&& run) noexcept;
  };

  void start(std::size_t capacity);
  void work() noexcept;

  struct SpareQueues;

  ThreadArena& arena_;
  std::unique_ptr<Queue> queue_;
  std::vector<std::jthread> threads_;
};

}  // namespace c63
