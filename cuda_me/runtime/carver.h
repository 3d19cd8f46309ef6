#pragma once

#include <cstddef>

namespace c63::cuda {

/// Every array on the device starts at a multiple of this.
inline constexpr std::size_t kDeviceAlignment = 256;
[[nodiscard]] constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

/// Cuts arrays off a block of memory; with no block it only adds up what they take.
class Carver {
 public:
  explicit Carver(std::byte* base = nullptr) : base_(base) {}

  template <typename T>
  T* take(std::size_t count) {
    T* const at = base_ != nullptr ? reinterpret_cast<T*>(base_ + used_) : nullptr;
    used_ += aligned(count * sizeof(T));
    return at;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

}  // namespace c63::cuda
