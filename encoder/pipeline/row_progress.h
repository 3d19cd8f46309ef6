#pragma once

#include <atomic>
#include <climits>

namespace c63 {

/// How many MCU rows of a picture are decoded, from the top. Whoever needs more of them than there are does not wait for them
/// on a thread: it is called when they are there.
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
  std::atomic<int> rows_ = 0;
  std::atomic<int> wanted_ = 0;
  std::atomic<Waiter*> waiter_ = nullptr;
  std::atomic<bool> failed_ = false;
};

}  // namespace c63
