#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "c63/frame_source.h"

struct CUstream_st;  // cudaStream_t is a pointer to it, so no CUDA header is needed

namespace c63::cuda {

/// The GPU that owns this memory, by CUDA's index. Throws Error: usage (C63-DEVICE-MEMORY) if no GPU does, device if there is
/// no GPU.
[[nodiscard]] int device_of(const void* memory);

/// One plane of all frames of a video in a GPU's memory.
struct DevicePlane {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t frame_pitch = 0;  ///< bytes from one frame to the next
  std::ptrdiff_t pitch = 0;        ///< bytes from one row to the next, at least the plane's width
};

/// A source of frames that are already in a GPU's memory. A backend on that GPU encodes them without an upload; only coded
/// bytes are downloaded. For other backends, scene cuts and global motion, they are copied to the host.
///
/// The frames may still be computed: the encode waits for the work that was on `stream` (null: the default stream) when the
/// source was made. They must not change until the encode is over.
class DeviceFrames final : public FrameSource {
 public:
  /// Uses whole frames without gaps. Throws as device_of() does, and Error (input, C63-PARTIAL-FRAME) if they are not a whole
  /// number of frames.
  DeviceFrames(std::span<const std::uint8_t> frames, VideoFormat format, CUstream_st* stream = nullptr);
  /// Packs planes that lie apart or have gaps, on `stream`, into the source's own device memory. Throws as device_of() does,
  /// and Error: usage (C63-DEVICE-FRAMES) for odd sides or planes of different GPUs, memory (C63-CUDA-MEMORY).
  DeviceFrames(const std::array<DevicePlane, 3>& planes, std::int64_t count, VideoFormat format,
               CUstream_st* stream = nullptr);
  ~DeviceFrames() override;

  /// The index of the GPU in CUDA.
  [[nodiscard]] int device() const;

  [[nodiscard]] VideoFormat format() const override { return format_; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return count_; }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool concurrent() const override { return true; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override;
  [[nodiscard]] std::span<const std::uint8_t> in_place(std::int64_t index) override;
  [[nodiscard]] bool in_host_memory() const override { return false; }

 private:
  struct State;
  [[nodiscard]] std::span<const std::uint8_t> frame(std::int64_t index) const;

  VideoFormat format_;
  std::int64_t count_ = 0;
  std::span<const std::uint8_t> frames_;
  std::unique_ptr<State> state_;
};

}  // namespace c63::cuda
