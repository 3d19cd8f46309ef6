#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace c63::test {

/// A buffer for outputs, with guards before and after it. All of this is filled with a pattern. So a test sees which
/// elements were not written, and whether something outside was written.
template <typename T>
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t count, unsigned char pattern = 0xA5)
      : pattern_(pattern), count_(count), memory_(count + 2 * kGuard) {
    std::memset(static_cast<void*>(memory_.data()), pattern_, memory_.size() * sizeof(T));
  }

  [[nodiscard]] T* data() { return memory_.data() + kGuard; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::span<T> span() { return {data(), count_}; }
  [[nodiscard]] std::span<const T> span() const { return {memory_.data() + kGuard, count_}; }

  /// Returns true if nothing was written to the guards.
  [[nodiscard]] bool guards_intact() const {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(memory_.data());
    const auto same = [this](unsigned char byte) { return byte == pattern_; };
    constexpr std::size_t kGuardBytes = kGuard * sizeof(T);
    return std::all_of(bytes, bytes + kGuardBytes, same) &&
           std::all_of(bytes + kGuardBytes + count_ * sizeof(T), bytes + memory_.size() * sizeof(T), same);
  }

 private:
  static constexpr std::size_t kGuard = 128;
  unsigned char pattern_;
  std::size_t count_;
  std::vector<T> memory_;
};

}  // namespace c63::test
