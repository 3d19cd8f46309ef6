#pragma once

#include <oneapi/tbb/task_arena.h>

#include <memory>
#include <utility>

namespace c63 {

/// The threads that an encoder, a decoder or several of them compute with: a oneTBB arena. An arena limits those who use
/// it and nobody else in the process; nothing of the process is changed for it.
class ThreadArena {
 public:
  /// An arena of its own, in which at most `threads` threads work at the same time; 0: as many as the machine has. Starts
  /// what oneTBB lacks of them. Throws std::bad_alloc, or Error (limit, C63-THREADS) where the system has no threads left.
  explicit ThreadArena(int threads = 0);
  /// The caller's, which outlives this. Where oneTBB then has to start a thread and cannot, it ends the process.
  explicit ThreadArena(oneapi::tbb::task_arena& arena) : arena_(&arena) {}

  ~ThreadArena();
  ThreadArena(const ThreadArena&) = delete;
  ThreadArena& operator=(const ThreadArena&) = delete;

  [[nodiscard]] bool is_callers() const { return own_ == nullptr; }

  /// How many threads may work in it at the same time.
  [[nodiscard]] int concurrency() const { return arena_->max_concurrency(); }

  /// How many of them cannot be oneTBB's workers: places for threads of one's own.
  [[nodiscard]] int places_kept() const { return places_kept_; }

  /// Has a worker call `work` soon, if there is one.
  template <typename Work>
  void enqueue(Work&& work) {
    arena_->enqueue(std::forward<Work>(work));
  }

  /// Calls `work` as one of the arena's threads and waits for it; what it runs in parallel runs in the arena.
  template <typename Work>
  decltype(auto) execute(Work&& work) {
    return arena_->execute(std::forward<Work>(work));
  }

 private:
  std::unique_ptr<oneapi::tbb::task_arena> own_;
  oneapi::tbb::task_arena* arena_;
  int places_kept_ = 1;
};

}  // namespace c63
