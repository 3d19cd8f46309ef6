#pragma once

#include <atomic>
#include <chrono>
#include <climits>

namespace c63 {

/// How many MCU rows of a picture are decoded, from the top. Whoever needs more of them than there are does not wait for them
/// on a thread: it is called when they are there. Only where they are about to come it may spin for a moment, for being called
/// takes longer than a row.
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

  /// The first `rows` rows are there.
  void reach(int rows) noexcept {
    rows_ = rows;
    if (waiter_.load() == nullptr || wanted_ > rows) return;
    if (Waiter* const waiter = waiter_.exchange(nullptr)) waiter->resume();
  }

  /// Whether a thread is at the rows now, and does nothing else before the last one.
  void set_advancing(bool advancing) noexcept { advancing_ = advancing; }

  /// True where `rows` rows are there, or come in a moment.
  [[nodiscard]] bool spin_for(int rows) const noexcept {
    constexpr std::chrono::microseconds kMoment(100);  // a few rows of 1920 samples
    constexpr int kLooks = 64;                         // at the rows, for one at the clock
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

  /// No row will follow; those that wait find it failed().
  void fail() noexcept {
    failed_ = true;
    reach(INT_MAX);
  }

  /// True where `rows` rows are there. Otherwise `waiter` is resumed, once and from any thread, as soon as there are
  /// `wake_at`, which are no fewer; it may already run when this returns. One waiter at a time.
  [[nodiscard]] bool wait_for(int rows, int wake_at, Waiter& waiter) noexcept {
    if (has(rows)) return true;
    wanted_ = wake_at;
    waiter_ = &waiter;
    // What was reached before the waiter could be seen did not resume it.
    return has(wake_at) && waiter_.exchange(nullptr) != nullptr;
  }

 private:
  /// Leaves the core to its other thread for an instant.
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
