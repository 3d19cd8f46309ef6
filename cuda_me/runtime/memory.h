#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/handle.h"

namespace c63::cuda {

namespace detail {
inline void release_device(void* p) noexcept { check_release(cudaFree(p), "cudaFree"); }
inline void release_pinned(void* p) noexcept { check_release(cudaFreeHost(p), "cudaFreeHost"); }

inline void* allocate_device(std::size_t bytes) {
  void* p = nullptr;
  if (bytes != 0) check(cudaMalloc(&p, bytes), "cudaMalloc");
  return p;
}
inline void* allocate_pinned(std::size_t bytes) {
  void* p = nullptr;
  if (bytes != 0) check(cudaMallocHost(&p, bytes), "cudaMallocHost");
  return p;
}

template <typename T, void* (*Allocate)(std::size_t), void (*Release)(void*) noexcept>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : handle_(Allocate(size * sizeof(T))), size_(size) {}
  Buffer(Buffer&& other) noexcept : handle_(std::move(other.handle_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    handle_ = std::move(other.handle_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(handle_.get()); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }

 private:
  Handle<void*, Release> handle_;
  std::size_t size_ = 0;
};
}  // namespace detail

/// `size` elements of device memory, 256-byte aligned, not initialized.
template <typename T>
using DeviceBuffer = detail::Buffer<T, detail::allocate_device, detail::release_device>;

/// `size` elements of page-locked host memory, which copies at full speed and asynchronously; not initialized.
template <typename T>
class PinnedBuffer : public detail::Buffer<T, detail::allocate_pinned, detail::release_pinned> {
 public:
  using detail::Buffer<T, detail::allocate_pinned, detail::release_pinned>::Buffer;
  [[nodiscard]] std::span<T> span() const noexcept { return {this->data(), this->size()}; }
};

/// Copies `count` elements, in either direction or on the device, in the order of `stream`.
template <typename T>
void copy_async(T* to, const T* from, std::size_t count, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

/// Sets `count` bytes.
inline void fill_async(void* to, int value, std::size_t count, cudaStream_t stream) {
  check(cudaMemsetAsync(to, value, count, stream), "cudaMemsetAsync");
}

}  // namespace c63::cuda
