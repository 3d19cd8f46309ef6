#include "c63/cuda/film_device.h"

#include <cuda.h>

#include <mutex>

#include "c63/cuda/devices.h"
#include "c63/picture.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {
namespace {

/// Returns the context that the CUDA runtime uses on this thread.
CUcontext current_context() {
  constexpr unsigned kSince = 12000;
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  check(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &found, kSince, cudaEnableDefault, &result), "cuCtxGetCurrent");
  CUcontext context = nullptr;
  if (result == cudaDriverEntryPointSuccess) {
    static_cast<void>(reinterpret_cast<CUresult (*)(CUcontext*)>(found)(&context));
  }
  return context;
}

class CudaFilmDevice final : public FilmDevice {
 public:
  /// When this is called, `device` must be the current one.
  explicit CudaFilmDevice(int device) : device_(device), context_(current_context()) {}

  [[nodiscard]] CUctx_st* context() const override { return context_; }
  [[nodiscard]] CUstream_st* stream() const override { return stream_; }

  [[nodiscard]] std::shared_ptr<std::uint8_t[]> allocate(std::size_t bytes) override {
    const DeviceGuard guard(device_);
    auto memory = std::make_shared<DeviceBuffer<std::uint8_t>>(bytes);
    return {memory, memory->data()};
  }

  [[nodiscard]] bool owns(const void* memory) const override { return device_with(memory) == device_; }

  void copy(std::span<std::uint8_t> to, std::span<const std::uint8_t> from) override {
    const DeviceGuard guard(device_);
    copy_async(to.data(), from.data(), from.size(), stream_);
    stream_.synchronize();
  }

  void split(const Picture& picture, std::span<std::uint8_t> frame, bool luma_only) override {
    const DeviceGuard guard(device_);
    if (owns(frame.data())) {
      enqueue_split(picture, frame.data(), luma_only);
      return stream_.synchronize();
    }
    const std::lock_guard lock(mutex_);
    std::uint8_t* const planes = make_room(planes_, frame.size());
    enqueue_split(picture, planes, luma_only);
    copy_async(frame.data(), planes, luma_only ? plane_bytes(picture.width, picture.height, 0) : frame.size(), stream_);
    stream_.synchronize();
  }

 private:
  void enqueue_split(const Picture& picture, std::uint8_t* to, bool luma_only) const {
    const auto width = static_cast<std::size_t>(picture.width);
    const auto height = static_cast<std::size_t>(picture.height);
    pack_rows_async(to, picture.luma, static_cast<std::size_t>(picture.luma_pitch), width, height, stream_);
    if (luma_only) return;
    std::uint8_t* const u = to + width * height;
    split_chroma(picture.chroma, picture.chroma_pitch, picture.width / 2, picture.height / 2, u, u + width / 2 * (height / 2),
                 stream_);
  }

  int device_;
  CUcontext context_;
  Stream stream_;
  std::mutex mutex_;                   ///< guards planes_
  DeviceBuffer<std::uint8_t> planes_;  ///< a frame on its way to the host
};

}  // namespace

std::shared_ptr<FilmDevice> open_film_device(int device) {
  static_cast<void>(require_device(device));
  const DeviceGuard guard(device);
  return std::make_shared<CudaFilmDevice>(device);
}

}  // namespace c63::cuda
