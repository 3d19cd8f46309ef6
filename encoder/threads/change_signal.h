#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace c63 {

/// Lets threads wait until something has changed. First take version(), then look for work. If there is none, call
/// wait_past() with that version. It returns at once if something has changed since version() was taken.
class ChangeSignal {
 public:
  [[nodiscard]] std::uint64_t version() const {
    const std::lock_guard lock(mutex_);
    return version_;
  }
  void notify() noexcept {
    {
      const std::lock_guard lock(mutex_);
      ++version_;
    }
    changed_.notify_all();
  }
  void wait_past(std::uint64_t version) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return version_ != version; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t version_ = 0;
};

}  // namespace c63
