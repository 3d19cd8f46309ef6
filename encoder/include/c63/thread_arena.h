#pragma once

#include <oneapi/tbb/task_arena.h>

#include <memory>
#include <utility>

namespace c63 {

/// The threads that encoders and decoders compute with: a oneTBB arena. It limits only its users and changes nothing in the
/// rest of the process. Several encoders and decoders may share one.
class ThreadArena {
 public:
  /// Makes an arena in which at most `threads` threads work at the same time; 0: as many as the machine has. Starts the
  /// workers that oneTBB lacks. Throws std::bad_alloc, or Error (limit, C63-THREADS) if the system has no threads left.
  explicit ThreadArena(int threads = 0);
  /// Uses the caller's arena, which must outlive this. If oneTBB must then start a thread and cannot, it ends the process.
  explicit ThreadArena(oneapi::tbb::task_arena& arena) : arena_(&arena) {}

  ~ThreadArena();
  ThreadArena(const ThreadArena&) = delete;
  ThreadArena& operator=(const ThreadArena&) = delete;

  [[nodiscard]] bool is_callers() const { return own_ == nullptr; }

  /// The number of threads that may work in it at the same time.
  [[nodiscard]] int concurrency() const { return arena_->max_concurrency(); }

  /// How many of them are reserved for threads that are not workers of oneTBB.
  [[nodiscard]] int places_kept() const { return places_kept_; }

  /// Lets a worker call `work` soon, if there is a worker.
  template <typename Work>
  void enqueue(Work&& work) {
    arena_->enqueue(std::forward<Work>(work));
  }

  /// Calls `work` as one of the arena's threads and waits for it. Its parallel loops run in the arena.
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
