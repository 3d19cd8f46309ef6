#pragma once

#include <atomic>
#include <chrono>
#include <climits>

namespace c63 {

/// Counts the decoded MCU rows of a picture, from the top. A task that needs more rows does not block a thread; it is
/// resumed when they are decoded. If the rows will be decoded within a moment, a thread may spin instead, because
/// resuming a task takes longer than a row.
class RowProgress {
 public:
  class Waiter {
   public:
    virtual void resume() noexcept = 0;

   protected:
    ~Waiter() = default;
  };

  void begin() noexcept {
    failed_ = false;
    advancing_ = false;
    rows_ = 0;
  }

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] bool has(int rows) const noexcept { return rows_ >= rows; }

  /// Says that the first `rows` rows are decoded.
  void reach(int rows) noexcept {
    rows_ = rows;
    if (waiter_.load() == nullptr || wanted_ > rows) return;
    if (Waiter* const waiter = waiter_.exchange(nullptr)) waiter->resume();
  }

  /// Says whether a thread is decoding rows right now and will continue without a pause.
  void set_advancing(bool advancing) noexcept { advancing_ = advancing; }

  /// Waits up to about 100 µs until `rows` rows are decoded, and returns true if they are. Returns false earlier if no
  /// thread is decoding rows, as set_advancing() has told.
  [[nodiscard]] bool spin_for(int rows) const noexcept {
    constexpr std::chrono::microseconds kMoment(100);  // the time for a few rows of 1920 samples
    constexpr int kLooks = 64;                         // checks of the row count for each check of the clock
    if (has(rows)) return true;
    const auto end = std::chrono::steady_clock::now() + kMoment;
    do {
      for (int i = 0; i < kLooks; ++i) {
        if (has(rows)) return true;
        if (!advancing_) return has(rows);
        relax();
      }
    } while (std::chrono::steady_clock::now() < end);
    return has(rows);
  }

  /// Says that no more rows will be decoded. Waiting tasks are resumed; failed() then returns true.
  void fail() noexcept {
    failed_ = true;
    reach(INT_MAX);
  }

  /// Returns true if `rows` rows are decoded. Otherwise returns false, and `waiter` is resumed once, from any thread,
  /// when `wake_at` rows are decoded. `wake_at` is at least `rows`. The waiter may already run again when this function
  /// returns. Only one waiter at a time is possible.
  [[nodiscard]] bool wait_for(int rows, int wake_at, Waiter& waiter) noexcept {
    if (has(rows)) return true;
    wanted_ = wake_at;
    waiter_ = &waiter;
    // Rows may have been reached before waiter_ was set. Then nobody else resumes the waiter, so it is removed and the
    // rows are used at once.
    return has(wake_at) && waiter_.exchange(nullptr) != nullptr;
  }

 private:
  /// Lets the other hardware thread of this core run for an instant.
  static void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  std::atomic<int> rows_ = 0;
  std::atomic<int> wanted_ = 0;
  std::atomic<Waiter*> waiter_ = nullptr;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> advancing_ = false;
};

}  // namespace c63
