#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

// CUDA's handles are pointers to these types, so no CUDA header is needed.
struct CUctx_st;
struct CUstream_st;

namespace c63 {

/// A GPU that decodes films for FFmpeg (SourceOptions::device). c63::cuda::open_film_device() opens one. Any number of
/// threads may use it. Calls throw Error: device, memory (C63-CUDA-MEMORY).
class FilmDevice {
 public:
  virtual ~FilmDevice() = default;

  /// CUDA's context and stream in which FFmpeg decodes.
  [[nodiscard]] virtual CUctx_st* context() const = 0;
  [[nodiscard]] virtual CUstream_st* stream() const = 0;

  /// Returns memory on the GPU.
  [[nodiscard]] virtual std::shared_ptr<std::uint8_t[]> allocate(std::size_t bytes) = 0;
  /// Returns true if this GPU owns the memory.
  [[nodiscard]] virtual bool owns(const void* memory) const = 0;
  /// Copies between memories of the host and of this GPU. Returns when the copy is done.
  virtual void copy(std::span<std::uint8_t> to, std::span<const std::uint8_t> from) = 0;

  /// A picture as a GPU decodes it (NV12): a plane of luma, and one of pairs of U and V.
  struct Picture {
    const std::uint8_t* luma = nullptr;
    const std::uint8_t* chroma = nullptr;
    std::ptrdiff_t luma_pitch = 0;    ///< bytes from one row to the next
    std::ptrdiff_t chroma_pitch = 0;
    int width = 0;  ///< both sides are even
    int height = 0;
  };
  /// Writes the planes Y, U and V to `frame`, which lies in memory of the host or of this GPU and has frame_bytes(width,
  /// height) bytes. With `luma_only`, it may leave U and V as they are. Waits until `picture` is decoded, and returns when
  /// it is not needed any more.
  virtual void split(const Picture& picture, std::span<std::uint8_t> frame, bool luma_only) = 0;
};

}  // namespace c63
