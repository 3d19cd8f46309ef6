#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "c63/frame_source.h"

struct CUstream_st;  // cudaStream_t is a pointer to it, so no CUDA header is needed

namespace c63::cuda {

/// Returns CUDA's index of the GPU that owns this memory. Throws Error: usage (C63-DEVICE-MEMORY) if no GPU owns it,
/// device if there is no GPU.
[[nodiscard]] int device_of(const void* memory);

/// One plane of all frames of a video, in a GPU's memory.
struct DevicePlane {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t frame_pitch = 0;  ///< bytes from one frame to the next
  std::ptrdiff_t pitch = 0;        ///< bytes from one row to the next, at least the plane's width
};

/// A source of frames that are already in a GPU's memory. A backend on that GPU encodes them without an upload, and
/// only coded bytes are downloaded. For other backends, and to find scene cuts and global motion, the frames are copied
/// to the host.
///
/// When the source is made, the frames need not be finished: the encode first waits for all work that is on `stream` at
/// that time (null: the default stream). If the source does not copy the frames, they must not change until the encode
/// ends.
class DeviceFrames final : public FrameSource {
 public:
  /// Makes a source of whole frames that follow each other without gaps. The frames are not copied. Throws as
  /// device_of() does, and Error (input, C63-PARTIAL-FRAME) if the bytes are not a whole number of frames.
  DeviceFrames(std::span<const std::uint8_t> frames, VideoFormat format, CUstream_st* stream = nullptr);
  /// Makes a source of planes that lie apart, or whose rows or frames have gaps. Copies them to the source's own device
  /// memory, on `stream`. Later work on `stream` may change the planes. Throws as device_of() does, and Error: usage
  /// (C63-DEVICE-FRAMES) for odd sides, a negative count, pitches below the width or planes of different GPUs, memory
  /// (C63-CUDA-MEMORY).
  DeviceFrames(const std::array<DevicePlane, 3>& planes, std::int64_t count, VideoFormat format,
               CUstream_st* stream = nullptr);
  ~DeviceFrames() override;

  /// CUDA's index of the GPU.
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
