#pragma once

#include <oneapi/tbb/task_arena.h>

#include <memory>
#include <utility>

namespace c63 {

/// The threads that encoders and decoders compute with: a oneTBB arena. It limits only the work that runs in it, and
/// changes nothing else in the process. Several encoders and decoders may share one.
class ThreadArena {
 public:
  /// Makes an arena in which at most `threads` threads work at the same time; 0: as many as the machine has. Starts the
  /// oneTBB workers that are missing. Throws std::bad_alloc, or Error (limit, C63-THREADS) if the system cannot start
  /// more threads.
  explicit ThreadArena(int threads = 0);
  ~ThreadArena();
  ThreadArena(const ThreadArena&) = delete;
  ThreadArena& operator=(const ThreadArena&) = delete;

  /// The number of threads that may work in the arena at the same time.
  [[nodiscard]] int concurrency() const { return arena_->max_concurrency(); }

  /// The number of threads that have a reserved place in the arena although they are not workers of oneTBB.
  [[nodiscard]] int places_kept() const { return places_kept_; }

  /// Returns at once; one of oneTBB's workers calls `work` soon. If oneTBB has no worker, nobody calls it.
  template <typename Work>
  void enqueue(Work&& work) {
    arena_->enqueue(std::forward<Work>(work));
  }

  /// Calls `work` on this thread, as one of the arena's threads. Parallel loops in `work` run in the arena. Returns
  /// what `work` returns.
  template <typename Work>
  decltype(auto) execute(Work&& work) {
    return arena_->execute(std::forward<Work>(work));
  }

 private:
  std::unique_ptr<oneapi::tbb::task_arena> arena_;
  int places_kept_ = 1;
};

}  // namespace c63
