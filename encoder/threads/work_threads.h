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

/// Runs tasks as threads of an arena, in the order in which they were posted. Own threads in the places that the arena keeps
/// run them first; if those are busy, oneTBB's workers do. If oneTBB has no worker or no memory to call one, the own threads do
/// all the work. So posting cannot fail, and no task stays unstarted.
class WorkThreads {
 public:
  struct Task {
    void (*run)(void* object, std::size_t argument) noexcept = nullptr;
    void* object = nullptr;
    std::size_t argument = 0;
  };

  /// At most `capacity` tasks may be posted and not yet begun. Throws Error (limit, C63-THREADS) if no thread can be started.
  WorkThreads(ThreadArena& arena, std::size_t capacity);
  /// Waits for all tasks that were posted.
  ~WorkThreads();
  WorkThreads(const WorkThreads&) = delete;
  WorkThreads& operator=(const WorkThreads&) = delete;

  void post(const Task& task) noexcept;

  /// Returns true if a task should continue in a new task: the caller is a worker of oneTBB, and an own thread waits. Only workers
  /// can join what a task shares out inside the arena, so on a machine with few CPUs the own thread would stay idle.
  [[nodiscard]] bool should_yield() const;

 private:
  /// The state shared with the arena's workers. They may arrive after this object is gone, so queues are kept and reused. The
  /// generation tells for which object a worker was called.
  struct Queue {
    std::mutex mutex;
    std::condition_variable posted;
    std::condition_variable ended;
    std::vector<Task> ring;  ///< task number n is at n modulo its size
    std::uint64_t generation = 0;
    std::size_t count = 0;   ///< tasks posted
    std::size_t begun = 0;
    std::size_t done = 0;
    int waiting = 0;   ///< own threads
    int woken = 0;     ///< of the waiting ones, woken but not yet running
    bool closed = false;

    /// Begins the next task, if there is one, and calls `run` for it. The mutex is held before and after.
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
