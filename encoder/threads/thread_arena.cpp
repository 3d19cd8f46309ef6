#include "c63/thread_arena.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c63/error.h"

namespace c63 {
namespace {

int logical_cpus() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/// Returns how many places of an arena are reserved for the library's own threads, at least one. oneTBB has one worker
/// fewer than the machine has CPUs, and warns if an arena wants more workers. So the remaining places are reserved,
/// too.
int places_kept_of(int threads) { return std::max(1, threads - (logical_cpus() - 1)); }

/// Unused arenas. A new ThreadArena takes one with the same number of threads. Arenas are not destroyed, because oneTBB
/// would keep some of an arena's memory if its workers are still leaving the arena then.
struct SpareArenas {
  std::mutex mutex;
  std::vector<std::unique_ptr<oneapi::tbb::task_arena>> arenas;
};
SpareArenas& spare_arenas() {
  // The list is never destroyed, because an arena may be given back while the process ends.
  static auto* const spare = new SpareArenas;
  return *spare;
}

/// Starts oneTBB's workers once for the process. Otherwise oneTBB starts them when there is work, even in destructors
/// and on other workers. If a thread or memory is missing then, oneTBB ends the process. Here, each worker gets a task
/// in its own small arena. All these tasks wait until start() has given out the last of them, so no worker takes two of
/// them.
class WorkerStarter {
 public:
  /// Starts more workers if fewer than `count` were started before. Throws std::bad_alloc, or Error (limit,
  /// C63-THREADS).
  void start(int count) {
    const std::lock_guard lock(mutex_);
    if (count <= started_) return;
    const Release release{calls_};
    std::vector<std::unique_ptr<oneapi::tbb::task_arena>> arenas(static_cast<std::size_t>(count));
    for (auto& arena : arenas) {
      arena = std::make_unique<oneapi::tbb::task_arena>(2, 1);
      arena->initialize();
      try {
        arena->enqueue([this, call = calls_.load()] { calls_.wait(call); });
      } catch (const std::runtime_error& error) {
        static_cast<void>(arena.release());  // its destructor would wait for ever for its worker
        throw Error(ErrorKind::limit, "C63-THREADS", std::string("cannot start a thread: ") + error.what());
      } catch (...) {
        static_cast<void>(arena.release());
        throw;
      }
    }
    started_ = count;
  }

 private:
  struct Release {
    std::atomic<int>& calls;
    ~Release() {
      ++calls;
      calls.notify_all();
    }
  };
  std::mutex mutex_;
  int started_ = 0;
  std::atomic<int> calls_ = 0;  ///< calls that have ended; each worker waits for the end of its call
};

void start_workers(int count) {
  // The starter is never destroyed, because a worker may still wait in it while the process ends.
  static auto* const starter = new WorkerStarter;
  starter->start(count);
}

std::unique_ptr<oneapi::tbb::task_arena> take_arena(int threads) {
  SpareArenas& spare = spare_arenas();
  {
    const std::lock_guard lock(spare.mutex);
    const auto found = std::ranges::find_if(spare.arenas, [&](const auto& arena) { return arena->max_concurrency() == threads; });
    if (found != spare.arenas.end()) {
      auto arena = std::move(*found);
      spare.arenas.erase(found);
      return arena;
    }
  }
  return std::make_unique<oneapi::tbb::task_arena>(threads, static_cast<unsigned>(places_kept_of(threads)));
}

}  // namespace

ThreadArena::~ThreadArena() {
  SpareArenas& spare = spare_arenas();
  const std::lock_guard lock(spare.mutex);
  try {
    spare.arenas.push_back(std::move(arena_));
  } catch (...) {  // not enough memory to keep it
  }
}

ThreadArena::ThreadArena(int threads)
    : arena_(take_arena(threads > 0 ? threads : logical_cpus())),
      places_kept_(places_kept_of(arena_->max_concurrency())) {
  arena_->initialize();  // called here, because it may throw if memory is short
  start_workers(std::min(arena_->max_concurrency(), logical_cpus()) - 1);
}

}  // namespace c63
