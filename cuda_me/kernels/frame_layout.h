#pragma once

#include <array>
#include <cstddef>

#include "codec/geometry.h"
#include "codec/vlc.h"
#include "cuda_me/runtime/memory.h"

namespace c63::cuda {

/// The number of MCUs in a segment. One thread block codes a segment and joins its bits in shared memory.
inline constexpr int kMcusPerSegment = 8;
inline constexpr int kBlocksPerSegment = kMcusPerSegment * kBlocksPerMcu;

inline constexpr int kMaxBlockWords = (kMaxBlockBits + 31) / 32;
inline constexpr int kMaxSegmentWords = kBlocksPerSegment * kMaxBlockWords;

/// The number of DC levels that a segment needs from the MCU before it: those of its last Y block, of U and of V. DC is
/// coded as a difference.
inline constexpr int kCarriedBlocks = 3;

/// The layout of a frame on the device.
///
/// A picture is its three padded planes in order. Each starts at a multiple of kDeviceAlignment; its pitch is the
/// plane's width. Per-block arrays (vectors, SADs, masks) hold the blocks of Y, then U, then V, in raster order.
struct FrameLayout {
  int mcu_columns = 0;
  int mcus = 0;
  int segments = 0;  ///< runs of kMcusPerSegment MCUs in coding order
  int blocks = 0;
  std::array<int, kPlanes> width{};           ///< of each padded plane, in samples
  std::array<int, kPlanes> columns{};         ///< blocks per row
  std::array<int, kPlanes> first_block{};     ///< index of each plane's first block in a per-block array
  std::array<std::size_t, kPlanes> offset{};  ///< offset of each plane in a picture, in bytes
  std::array<std::size_t, kPlanes> coded{};   ///< samples from each plane's start that belong to the picture
  std::size_t picture_bytes = 0;              ///< includes room for reads of whole words past the last plane

  FrameLayout() = default;
  explicit FrameLayout(const Geometry& geometry)
      : mcu_columns(geometry.mcu_columns()),
        mcus(static_cast<int>(geometry.mcus())),
        segments((mcus + kMcusPerSegment - 1) / kMcusPerSegment) {
    for (int p = 0; p < kPlanes; ++p) {
      const PlaneGeometry plane = geometry.plane(p);
      width[p] = plane.width;
      columns[p] = plane.columns;
      first_block[p] = blocks;
      offset[p] = picture_bytes;
      coded[p] = plane.coded_samples;
      blocks += plane.blocks();
      picture_bytes += aligned(plane.samples());
    }
    picture_bytes += kDeviceAlignment;
  }
};

}  // namespace c63::cuda
