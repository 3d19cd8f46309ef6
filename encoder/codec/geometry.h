#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/host_device.h"

namespace c63 {

inline constexpr int kBlockSize = 8;        ///< side of a block in samples
inline constexpr int kBlockSamples = 64;
inline constexpr int kMcuSize = 16;  ///< side of an MCU in luma samples
inline constexpr int kBlocksPerMcu = 6;      ///< four of Y, one of U, one of V
inline constexpr int kPlanes = 3;
inline constexpr int kMaxSide = 65535;      ///< the header has 16 bits for each side

/// One plane of a coded picture. Its rows are exactly `width` bytes apart.
struct PlaneGeometry {
  int width = 0;    ///< padded to a multiple of 8
  int height = 0;   ///< padded to a multiple of 8
  int columns = 0;  ///< blocks in a row
  int rows = 0;     ///< rows of blocks
  std::size_t coded_samples = 0;  ///< this many samples at the plane's start belong to the frame

  [[nodiscard]] C63_HD constexpr int blocks() const { return columns * rows; }
  [[nodiscard]] C63_HD constexpr std::size_t samples() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

/// All arithmetic at the edges of a picture.
///
/// The course codec pads both sides to multiples of 16, but fills the padded planes *linearly*: the W·H luma bytes of a
/// frame go to the start of the plane, without regard to rows. Each chroma plane gets floor(W·H/4) bytes; the rest of
/// each plane is zero. So a width that is not a multiple of 16 shears the coded picture. Reading the same number of
/// bytes from the start of the decoded plane undoes this.
class Geometry {
 public:
  constexpr Geometry() = default;

  C63_HD constexpr Geometry(int coded_width, int coded_height)
      : width_(coded_width),
        height_(coded_height),
        mcu_columns_((coded_width + kMcuSize - 1) / kMcuSize),
        mcu_rows_((coded_height + kMcuSize - 1) / kMcuSize) {}

  [[nodiscard]] C63_HD constexpr int width() const { return width_; }
  [[nodiscard]] C63_HD constexpr int height() const { return height_; }
  [[nodiscard]] C63_HD constexpr int padded_width() const { return mcu_columns_ * kMcuSize; }
  [[nodiscard]] C63_HD constexpr int padded_height() const { return mcu_rows_ * kMcuSize; }
  [[nodiscard]] C63_HD constexpr int mcu_columns() const { return mcu_columns_; }
  [[nodiscard]] C63_HD constexpr int mcu_rows() const { return mcu_rows_; }
  [[nodiscard]] C63_HD constexpr std::int64_t mcus() const {
    return static_cast<std::int64_t>(mcu_columns_) * mcu_rows_;
  }

  /// Returns the geometry of plane 0 (Y), 1 (U) or 2 (V).
  [[nodiscard]] C63_HD constexpr PlaneGeometry plane(int index) const {
    const int shift = index == 0 ? 0 : 1;
    const int w = padded_width() >> shift;
    const int h = padded_height() >> shift;
    const auto luma = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
    return {w, h, w / kBlockSize, h / kBlockSize, index == 0 ? luma : luma / 4};
  }

  /// The number of samples of all three padded planes.
  [[nodiscard]] C63_HD constexpr std::size_t padded_samples() const {
    return static_cast<std::size_t>(padded_width()) * static_cast<std::size_t>(padded_height()) / 2 * 3;
  }
  /// The number of blocks of all three planes.
  [[nodiscard]] C63_HD constexpr std::int64_t blocks() const { return mcus() * 6; }
  /// The bytes of one frame of input or output.
  [[nodiscard]] C63_HD constexpr std::size_t frame_bytes() const {
    return plane(0).coded_samples + 2 * plane(1).coded_samples;
  }

  friend constexpr bool operator==(const Geometry& a, const Geometry& b) {
    return a.width_ == b.width_ && a.height_ == b.height_;
  }

 private:
  int width_ = 0;
  int height_ = 0;
  int mcu_columns_ = 0;
  int mcu_rows_ = 0;
};

/// Returns true if W·H is a multiple of 4, so that the three planes together have exactly 1.5·W·H samples. The course
/// encoder takes no other sizes.
[[nodiscard]] C63_HD constexpr bool is_codable_area(int width, int height) {
  return (static_cast<std::int64_t>(width) * height) % 4 == 0;
}

}  // namespace c63
