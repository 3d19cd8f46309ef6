#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "race/access_counts.h"
#include "race/emulated_cuda.h"
#include "race/fibre.h"
#include "race/shadow_memory.h"

namespace c63::race {

inline constexpr int kMostThreads = 1024;  ///< of a block

/// The threads of an emulated GPU. Those of a block are fibres; blocks run one after another. There can be one object at a time.
class EmulatedThreads {
 public:
  EmulatedThreads(Notes& faults, std::mt19937& random);
  ~EmulatedThreads();
  EmulatedThreads(const EmulatedThreads&) = delete;
  EmulatedThreads& operator=(const EmulatedThreads&) = delete;

  /// A kernel's launch, and what is called during it.
  struct Launch {
    uint3 grid;
    uint3 block;
    std::function<void()> kernel;
    std::function<void()> block_begins;
    std::function<void()> interval_ends;  ///< no thread waits for a warp; all are at a barrier or have ended
  };
  /// Runs a kernel. `order` chooses orders of threads and blocks. Returns false if a fault has ended it.
  bool run(const Launch& launch, unsigned order);

  /// Returns true while a kernel runs.
  [[nodiscard]] bool is_running() const { return current_ != nullptr; }
  /// Returns who the host is: before the next launch.
  [[nodiscard]] Stamp host_stamp() const { return {.block = block_}; }

  // For the thread that runs now:

  [[nodiscard]] int index() const { return static_cast<int>(current_ - threads_.data()); }
  /// Returns who accesses memory at a place in the code.
  [[nodiscard]] Stamp stamp(std::uint32_t from, bool is_together) const {
    const auto thread = static_cast<std::uint16_t>(index());
    return {.block = block_, .interval = interval_, .from = from, .thread = thread, .epoch = epochs_[thread / kWarp], .is_together = is_together};
  }
  [[nodiscard]] std::uint32_t first_block() const { return first_block_; }
  /// 0: threadIdx, 1: blockIdx, 2: blockDim, 3: gridDim.
  [[nodiscard]] uint3 place(int what) const {
    return what == 0 ? current_->place : what == 1 ? block_place_ : what == 2 ? launch_->block : launch_->grid;
  }
  /// Returns true for memory of the threads' own stacks.
  [[nodiscard]] bool is_on_stack(std::uintptr_t place) const { return place - reinterpret_cast<std::uintptr_t>(stacks_) < kMostThreads * kStackStride; }
  /// Counts an access to memory. A thread that waits for another by volatile or atomic reads lets it run.
  void count_access(bool may_wait, std::uint32_t from) {
    if (++current_->accesses > kMostAccesses) stop("hangs", "a loop that does not end", from);
    if (may_wait && current_->accesses % kSpins == 0) {
      became_ready_ = true;
      next();
    }
  }
  /// Waits for all threads of the block. Returns the sum of their values.
  unsigned barrier(unsigned value, std::uint32_t from);
  /// Waits for the lanes of the mask, as exchange() of C63EmulatedGpu says.
  unsigned long long exchange(unsigned what, unsigned mask, unsigned long long value, unsigned source, std::uint32_t from);
  /// Notes a fault after which the kernel cannot go on, and ends the launch.
  [[noreturn]] void stop(const char* id, const std::string& text, std::uint32_t from);

 private:
  static constexpr std::size_t kStackBytes = 256 << 10;
  static constexpr std::size_t kStackStride = kStackBytes + 4096 + 192;  // so that stacks do not share the lines of a cache
  static constexpr std::int64_t kMostAccesses = 20'000'000;  // of a thread from barrier to barrier; more means a loop without an end
  static constexpr std::int64_t kSpins = 64;
  enum class State : std::uint8_t { ready, at_barrier, in_warp, done };
  struct Thread {
    Fibre fibre;
    State state = State::done;
    bool is_started = false;
    uint3 place{};
    std::uint32_t from = 0;  ///< where it waits
    unsigned what = 0;
    unsigned mask = 0;
    unsigned source = 0;
    unsigned long long value = 0;
    unsigned long long result = 0;
    std::int64_t accesses = 0;  ///< since it last waited
  };

  static void run_thread();
  void run_block();
  void next();
  Thread* pick();
  void shuffle();
  [[nodiscard]] unsigned combine(unsigned what) const;

  static EmulatedThreads* self;  ///< for fibres, which get no argument

  Notes& faults_;
  std::mt19937& random_;
  std::uint8_t* stacks_;
  Fibre main_;
  std::vector<Thread> threads_;
  Thread* current_ = nullptr;
  std::vector<std::uint16_t> order_;  ///< of threads
  std::size_t turn_ = 0;
  bool became_ready_ = false;  ///< a thread may run that was passed over in this round
  std::vector<Thread*> lanes_;

  // The launch, and its current block
  const Launch* launch_ = nullptr;
  unsigned how_ = 0;  ///< threads and blocks are ordered
  uint3 block_place_{};
  int block_size_ = 0;
  std::uint32_t block_ = 1;
  std::uint32_t first_block_ = 1;  ///< of the launch
  std::uint32_t interval_ = 0;
  std::array<std::uint16_t, kMostThreads / kWarp> epochs_{};
  unsigned barrier_sum_ = 0;
  bool has_stopped_ = false;
};

}  // namespace c63::race
