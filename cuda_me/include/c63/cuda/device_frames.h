#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "c63/frame_source.h"

struct CUstream_st;  // cudaStream_t is a pointer to it; this header needs no CUDA header

namespace c63::cuda {

/// The GPU that has this memory, by CUDA's index. Throws Error: usage (C63-DEVICE-MEMORY) where none has, device where there is
/// no GPU.
[[nodiscard]] int device_of(const void* memory);

/// A plane of all frames of a video in a GPU's memory.
struct DevicePlane {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t frame_pitch = 0;  ///< bytes from a frame to the next
  std::ptrdiff_t pitch = 0;        ///< bytes from a row to the next, at least the plane's width
};

/// Frames that are in a GPU's memory already, as a source: a backend on that GPU encodes them without the bus; only coded
/// bytes come down. All other backends, scene cuts and global motion have them copied to the host.
///
/// The frames may still be in the making: the encode waits for what `stream` (null: the default stream) was given before the
/// source was made. They stay as they are until the encode is over.
class DeviceFrames final : public FrameSource {
 public:
  /// Whole frames, one after another. Throws as device_of(), and Error (input, C63-PARTIAL-FRAME) for no whole number of
  /// frames.
  DeviceFrames(std::span<const std::uint8_t> frames, VideoFormat format, CUstream_st* stream = nullptr);
  /// Frames whose planes lie apart or with gaps: they are packed on `stream` into device memory of the source's own. Throws as
  /// device_of(), and Error: usage (C63-DEVICE-FRAMES) for odd sides and planes of different GPUs, memory (C63-CUDA-MEMORY).
  DeviceFrames(const std::array<DevicePlane, 3>& planes, std::int64_t count, VideoFormat format,
               CUstream_st* stream = nullptr);
  ~DeviceFrames() override;

  /// The GPU, by CUDA's index.
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
