#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "cuda_me/runtime/check.h"

namespace c63::cuda {

namespace detail {

struct DeviceMemory {
  static void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    return memory;
  }
  static void release(void* memory, std::size_t /*bytes*/) noexcept { drop_error(cudaFree(memory)); }
};

struct PinnedMemory {
  static void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
    total += bytes;
    return memory;
  }
  static void release(void* memory, std::size_t bytes) noexcept {
    drop_error(cudaFreeHost(memory));
    total -= bytes;
  }
  static inline std::atomic<std::size_t> total = 0;
};

/// Owns `size` uninitialized elements. It can be moved but not copied.
template <typename T, typename Memory>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) {
    if (size != 0) data_ = {static_cast<T*>(Memory::allocate(size * sizeof(T))), {size * sizeof(T)}};
  }

  [[nodiscard]] T* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes() / sizeof(T); }
  [[nodiscard]] std::size_t bytes() const noexcept { return data_ != nullptr ? data_.get_deleter().bytes : 0; }
  [[nodiscard]] std::span<T> span() const noexcept { return {data(), size()}; }

 private:
  struct Release {
    std::size_t bytes = 0;
    void operator()(T* memory) const noexcept { Memory::release(memory, bytes); }
  };
  std::unique_ptr<T, Release> data_;
};

}  // namespace detail

/// Device memory, 256-byte aligned.
template <typename T>
using DeviceBuffer = detail::Buffer<T, detail::DeviceMemory>;

/// Page-locked host memory. Devices copy from and to it asynchronously and at full speed.
template <typename T>
using PinnedBuffer = detail::Buffer<T, detail::PinnedMemory>;

/// The bytes of page-locked memory in this process's PinnedBuffers. For tests.
[[nodiscard]] inline std::size_t pinned_bytes() { return detail::PinnedMemory::total; }

/// Makes sure that a buffer has room for at least `size` elements, and returns its memory. When it must grow, its
/// content is lost, and it gets a quarter more than needed, so that it seldom grows. Nothing may still use the old
/// memory.
template <typename Buffer>
auto* make_room(Buffer& buffer, std::size_t size) {
  if (buffer.size() < size) {
    buffer = {};
    buffer = Buffer(size + size / 4);
  }
  return buffer.data();
}

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
/// take the host longer than the copies take.
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
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    check(cudaMemcpyBatchAsync(to_.data(), from_.data(), bytes_.data(), bytes_.size(), &attributes, &first, 1, stream),
          "cudaMemcpyBatchAsync");
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
