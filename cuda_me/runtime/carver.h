#pragma once

#include <cstddef>

namespace c63::cuda {

/// The alignment of every array on the device, in bytes.
inline constexpr std::size_t kDeviceAlignment = 256;
[[nodiscard]] constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

/// Splits one block of memory into arrays. If there is no block of memory, it only adds up the sizes of the arrays.
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
