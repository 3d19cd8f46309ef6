#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace c63 {

/// The threads that encoders and decoders compute with. Each takes the oldest posted task, or helps with a loop of
/// parallel_for() if there is no task. Several encoders and decoders may share a pool.
///
/// Threads start when they are needed. If the system cannot start more, those that run do all the work. So neither
/// post() nor a loop can fail for lack of threads or memory.
class ThreadPool {
 public:
  /// A piece of work. Its owner keeps it until `run` has been called for it, and may then post it again.
  struct Task {
    void (*run)(Task& task) noexcept = nullptr;
    Task* next = nullptr;  ///< used by the pool
  };

  /// Makes a pool of `threads` threads, and starts the first of them; 0: as many as the machine has. Throws
  /// std::bad_alloc, or Error (limit, C63-THREADS) if the system cannot start a thread.
  explicit ThreadPool(int threads = 0);
  /// All tasks must have ended.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The number of threads.
  [[nodiscard]] int concurrency() const { return concurrency_; }

  void post(Task& task) noexcept;

  /// Calls `work` on this thread. Loops of parallel_for() in it use this pool. Returns what `work` returns.
  template <typename Work>
  decltype(auto) execute(Work&& work) {
    const Use use(*this);
    return work();
  }

  /// The pool of this thread: the one that it belongs to, or that of execute(). Other threads share a pool of the whole
  /// process, with as many threads as the machine has.
  [[nodiscard]] static ThreadPool& current();

  /// Use parallel_for(), below.
  void run_loop(std::size_t count, void (*body)(const void* object, std::size_t index), const void* object);

 private:
  struct Loop;
  struct Use {
    explicit Use(ThreadPool& pool);
    ~Use();
    ThreadPool* before;
  };

  ThreadPool(int threads, bool starts_one);

  /// Where a loop can be found by threads that may take part in it.
  struct alignas(64) LoopSlot {
    static constexpr std::uint32_t kTaken = 1U << 31U;  ///< a loop is here
    static constexpr std::uint32_t kOpen = 1U << 30U;   ///< threads may still begin to take part
    std::atomic<std::uint32_t> state = 0;               ///< these two, and the number of threads that take part
    Loop* loop = nullptr;
  };
  /// If more loops run at the same time, the caller of each further loop does it alone.
  static constexpr std::size_t kMostLoops = 16;

  void work() noexcept;
  [[nodiscard]] bool do_work() noexcept;
  [[nodiscard]] Task* take_task() noexcept;
  [[nodiscard]] LoopSlot* join_loop() noexcept;
  void leave_loop(LoopSlot& slot) noexcept;
  [[nodiscard]] LoopSlot* open_loop(Loop& loop) noexcept;
  void close_loop(LoopSlot& slot) noexcept;
  [[nodiscard]] int waiting_work() const noexcept;
  void sleep(std::uint64_t seen) noexcept;
  void wake() noexcept;
  void start_one();

  const int concurrency_;
  const bool waits_awake_;  ///< false: there are more threads than CPUs, so another thread needs the CPU

  // A thread that found no work sleeps only if `changes_` is still what it was before it looked. Who adds work first
  // increments `changes_`, then reads how many threads look and how many sleep. So one of the two sees the other.
  std::atomic<std::uint64_t> changes_ = 0;  ///< how many tasks and loops have begun to wait for threads
  std::atomic<int> looking_ = 0;            ///< threads that are awake and will look for work before they sleep
  std::atomic<int> idle_ = 0;               ///< threads that sleep or have not been started
  std::array<LoopSlot, kMostLoops> loops_;
  std::atomic<int> waiting_ = 0;  ///< tasks in the list below

  std::mutex mutex_;  ///< guards the members below
  Task* first_ = nullptr;  ///< the tasks that wait, oldest first
  Task* last_ = nullptr;
  std::condition_variable woken_;
  int asleep_ = 0;
  int wakes_ = 0;  ///< threads that were woken but do not run yet; they are counted in looking_
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

/// Calls body(i) for each i from 0 to `count` - 1: on this thread, and on threads of its pool (ThreadPool::current())
/// that have nothing else to do. After an exception, no more calls begin; then throws the first exception. A thread that
/// waits for the last calls does no other work.
template <typename Index, typename Body>
void parallel_for(Index count, const Body& body) {
  if (count <= 0) return;
  ThreadPool::current().run_loop(
      static_cast<std::size_t>(count),
      [](const void* object, std::size_t index) { (*static_cast<const Body*>(object))(static_cast<Index>(index)); }, &body);
}

/// Calls body(begin, end) for ranges that together cover 0..count-1, as parallel_for() does. Ranges have at least
/// `grain` items if `count` has, because handing fewer to another thread would take longer than processing them.
template <typename Body>
void parallel_ranges(std::size_t count, std::size_t grain, const Body& body) {
  constexpr std::size_t kRangesPerThread = 4;  // so that threads that begin late or run slowly delay nobody
  if (count == 0) return;
  const std::size_t most = kRangesPerThread * static_cast<std::size_t>(ThreadPool::current().concurrency());
  const std::size_t ranges = count <= grain ? 1 : count / grain < most ? count / grain : most;
  parallel_for(ranges, [&](std::size_t i) { body(i * count / ranges, (i + 1) * count / ranges); });
}

}  // namespace c63
