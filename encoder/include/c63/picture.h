#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace c63 {

/// A view of a rectangle of samples; does not own them. `pitch` is the distance between rows in samples.
template <typename T>
struct BasicPlaneView {
  T* data = nullptr;
  int width = 0;
  int height = 0;
  std::ptrdiff_t pitch = 0;

  [[nodiscard]] constexpr T* row(int y) const { return data + y * pitch; }
  [[nodiscard]] constexpr T& at(int x, int y) const { return data[y * pitch + x]; }

  /// A view of writable samples converts to a view of read-only samples.
  template <typename U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>)
  constexpr operator BasicPlaneView<U>() const {
    return {data, width, height, pitch};
  }
};

using PlaneView = BasicPlaneView<std::uint8_t>;
using ConstPlaneView = BasicPlaneView<const std::uint8_t>;

/// Frames per second as a fraction.
struct FrameRate {
  int numerator = 25;
  int denominator = 1;
  [[nodiscard]] double value() const { return static_cast<double>(numerator) / denominator; }
};

/// Size and rate of a video in 8-bit planar YUV 4:2:0.
struct VideoFormat {
  int width = 0;
  int height = 0;
  FrameRate rate = {};
  /// Columns and rows of luma at the right and at the bottom that repeat others, because the video's own sides are odd.
  int repeated_columns = 0;
  int repeated_rows = 0;
};

/// The bytes of plane 0 (Y), 1 (U) or 2 (V) of a frame: W·H for luma, floor(W·H/4) for each chroma plane. This rule of
/// the course codec also holds for odd sizes.
[[nodiscard]] constexpr std::size_t plane_bytes(int width, int height, int plane) {
  const auto luma = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  return plane == 0 ? luma : luma / 4;
}

/// Returns the bytes of one frame in linear layout: planes Y, U, V, one after another, without gaps.
[[nodiscard]] constexpr std::size_t frame_bytes(int width, int height) {
  return plane_bytes(width, height, 0) + 2 * plane_bytes(width, height, 1);
}

/// Splits the bytes of one frame into its planes.
template <typename Byte>
[[nodiscard]] std::array<std::span<Byte>, 3> split_planes(std::span<Byte> frame, int width, int height) {
  const std::size_t luma = plane_bytes(width, height, 0);
  const std::size_t chroma = plane_bytes(width, height, 1);
  return {frame.subspan(0, luma), frame.subspan(luma, chroma), frame.subspan(luma + chroma, chroma)};
}

}  // namespace c63
