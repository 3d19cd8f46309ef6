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

/// Takes tasks, first posted first begun, and has each run as one of an arena's threads: by own threads in the places that the
/// arena keeps for those, and where they are busy by oneTBB's workers. oneTBB may have no worker or no memory to call one; the
/// own threads do everything then. So posting cannot fail, and whoever counts tasks is never left waiting for one that was
/// not started.
class WorkThreads {
 public:
  struct Task {
    void (*run)(void* object, std::size_t argument) noexcept = nullptr;
    void* object = nullptr;
    std::size_t argument = 0;
  };

  /// At most `capacity` tasks may be posted and not yet begun. Throws Error (limit, C63-THREADS) where no thread can be
  /// started.
  WorkThreads(ThreadArena& arena, std::size_t capacity);
  /// Waits for all tasks that were posted.
  ~WorkThreads();
  WorkThreads(const WorkThreads&) = delete;
  WorkThreads& operator=(const WorkThreads&) = delete;

  void post(const Task& task) noexcept;

  /// Whether a task had better go on in another one: the caller is a worker of oneTBB, and an own thread waits. What a task shares
  /// out inside the arena only workers can join, so on a machine of few CPUs the own thread would stay idle.
  [[nodiscard]] bool had_better_hand_on() const;

 private:
  /// What the arena's workers share with this. They may come when it is gone, so queues are kept for the next one, and
  /// know by their generation whom a worker was called for.
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
    int woken = 0;     ///< of them, that have not taken notice yet
    bool closed = false;

    /// Begins the next task, if there is one, and calls `run` for it; the mutex is held before and after.
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
