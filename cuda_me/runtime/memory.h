#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda_me/runtime/check.h"

namespace c63::cuda {

namespace detail {
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

template <typename T, void* (*Allocate)(std::size_t), cudaError_t (*Release)(void*)>
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

/// `size` uninitialized elements of device memory, 256-byte aligned.
template <typename T>
using DeviceBuffer = detail::Buffer<T, detail::allocate_device, cudaFree>;

namespace detail {
inline std::atomic<std::size_t> pinned_bytes = 0;

/// Adds `bytes` to the process's count of page-locked bytes for as long as the object exists.
class PinnedBytes {
 public:
  explicit PinnedBytes(std::size_t bytes = 0) : bytes_(bytes) { pinned_bytes += bytes; }
  PinnedBytes(PinnedBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  PinnedBytes& operator=(PinnedBytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PinnedBytes() { pinned_bytes -= bytes_; }

 private:
  std::size_t bytes_;
};
}  // namespace detail

/// The bytes of page-locked memory in this process's PinnedBuffers. For tests.
[[nodiscard]] inline std::size_t pinned_bytes() { return detail::pinned_bytes; }

/// `size` uninitialized elements of page-locked host memory. Devices copy from and to it asynchronously and at full
/// speed.
template <typename T>
class PinnedBuffer : public detail::Buffer<T, detail::allocate_pinned, cudaFreeHost> {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t size)
      : detail::Buffer<T, detail::allocate_pinned, cudaFreeHost>(size), accounted_(this->bytes()) {}
  [[nodiscard]] std::span<T> span() const noexcept { return {this->data(), this->size()}; }

 private:
  detail::PinnedBytes accounted_;
};

/// Returns true if the driver has page-locked these bytes of the host, so that a device can copy them directly. Checks
/// only the first and the last byte. False if there are no bytes.
[[nodiscard]] inline bool is_page_locked(std::span<const std::uint8_t> bytes) {
  const auto locked = [](const std::uint8_t* p) {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, p), "cudaPointerGetAttributes");
    return attributes.type == cudaMemoryTypeHost;
  };
  return !bytes.empty() && locked(bytes.data()) && locked(bytes.data() + bytes.size() - 1);
}

/// Copies `count` elements between any memories, in the order of `stream`.
template <typename T>
void copy_async(T* to, const T* from, std::size_t count, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

/// Copies `rows` rows of `count` elements to memory without gaps. The source's rows start `from_pitch` bytes apart.
template <typename T>
void pack_rows_async(T* to, const void* from, std::size_t from_pitch, std::size_t count, std::size_t rows,
                     cudaStream_t stream) {
  const std::size_t bytes = count * sizeof(T);
  check(cudaMemcpy2DAsync(to, bytes, from, from_pitch, bytes, rows, cudaMemcpyDefault, stream), "cudaMemcpy2DAsync");
}

/// A list of copies that a single call enqueues on a stream. If small copies were enqueued one by one, the calls would
/// take the host longer than the copies take. CUDA has such a call since version 13; before, each copy is enqueued by
/// itself.
class CopyBatch {
 public:
  void clear() {
    to_.clear();
    from_.clear();
    bytes_.clear();
  }
  [[nodiscard]] bool empty() const { return to_.empty(); }
  void add(void* to, const void* from, std::size_t bytes) {
    to_.push_back(to);
    from_.push_back(from);
    bytes_.push_back(bytes);
  }
  void enqueue(cudaStream_t stream) {
#if CUDART_VERSION >= 13000
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    check(cudaMemcpyBatchAsync(to_.data(), from_.data(), bytes_.data(), bytes_.size(), &attributes, &first, 1, stream),
          "cudaMemcpyBatchAsync");
#else
    for (std::size_t i = 0; i < to_.size(); ++i) {
      check(cudaMemcpyAsync(to_[i], from_[i], bytes_[i], cudaMemcpyDefault, stream),
            "cudaMemcpyAsync");
    }
#endif
  }

 private:
  std::vector<void*> to_;
  std::vector<const void*> from_;
  std::vector<std::size_t> bytes_;
};

/// Sets `count` bytes to `value`, in the order of `stream`.
inline void fill_async(void* to, int value, std::size_t count, cudaStream_t stream) {
  check(cudaMemsetAsync(to, value, count, stream), "cudaMemsetAsync");
}

/// Returns CUDA's index of the device that owns this memory; empty for host memory.
[[nodiscard]] inline std::optional<int> device_with(const void* memory) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged) return std::nullopt;
  return attributes.device;
}

/// Returns true if `device` can copy these bytes directly: from its own memory, or from page-locked host memory. Checks
/// only the first and the last byte. False if there are no bytes.
[[nodiscard]] inline bool can_copy(int device, std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return false;
  if (const std::optional<int> with = device_with(bytes.data())) {
    return with == device && device_with(&bytes.back()) == device;
  }
  return is_page_locked(bytes);
}

}  // namespace c63::cuda
