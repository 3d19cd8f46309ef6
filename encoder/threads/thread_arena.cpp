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

/// oneTBB has a worker less than the machine has CPUs, and complains where an arena wants more: the others of so many threads
/// are the library's own, for which an arena keeps places.
int places_kept_of(int threads) { return std::max(1, threads - (logical_cpus() - 1)); }

/// Arenas that nobody uses now. oneTBB keeps some memory of every arena that ends while its workers are still on their way
/// out, so arenas are used again, by whoever wants as many threads.
struct SpareArenas {
  std::mutex mutex;
  std::vector<std::unique_ptr<oneapi::tbb::task_arena>> arenas;
};
SpareArenas& spare_arenas() {
  static auto* const spare = new SpareArenas;  // never destroyed: an arena may be given back when the process ends
  return *spare;
}

/// oneTBB starts its workers when there is work for them, also in destructors and on other workers, where a thread or memory
/// that is missing ends the process. So they are started here, once for the process, each by a task in an arena with room for
/// a single worker, and all of them busy until the last one has been started.
class WorkerStarter {
 public:
  /// Throws std::bad_alloc, or Error (limit, C63-THREADS).
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
        static_cast<void>(arena.release());  // it waits for its worker for ever
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
  std::atomic<int> calls_ = 0;  ///< that have ended; workers wait for theirs
};

void start_workers(int count) {
  static auto* const starter = new WorkerStarter;  // never destroyed: a worker may still wait in it when the process ends
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
  if (!own_) return;
  SpareArenas& spare = spare_arenas();
  const std::lock_guard lock(spare.mutex);
  try {
    spare.arenas.push_back(std::move(own_));
  } catch (...) {  // no memory to keep it with
  }
}

ThreadArena::ThreadArena(int threads)
    : own_(take_arena(threads > 0 ? threads : logical_cpus())),
      arena_(own_.get()),
      places_kept_(places_kept_of(own_->max_concurrency())) {
  own_->initialize();  // here, where it may throw for want of memory
  start_workers(std::min(own_->max_concurrency(), logical_cpus()) - 1);
}

}  // namespace c63
