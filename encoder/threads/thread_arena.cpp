#include "c63/thread_arena.h"

#include <algorithm>
#include <thread>

namespace c63 {
namespace {

int logical_cpus() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/// oneTBB has a worker less than the machine has CPUs, and complains where an arena wants more: the others of so many threads
/// are the library's own, for which an arena keeps places.
oneapi::tbb::task_arena make_arena(int threads) {
  return oneapi::tbb::task_arena(threads, static_cast<unsigned>(std::max(1, threads - (logical_cpus() - 1))));
}

}  // namespace

ThreadArena::ThreadArena(int threads)
    : own_(std::make_unique<oneapi::tbb::task_arena>(make_arena(threads > 0 ? threads : logical_cpus()))),
      arena_(own_.get()) {
  own_->initialize();  // here, where it may throw for want of memory
}

}  // namespace c63
