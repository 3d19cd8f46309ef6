#include "c63/thread_arena.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

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
}

}  // namespace c63
