#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/geometry.h"
#include "codec/host_device.h"
#include "codec/vlc.h"
#include "cuda_me/runtime/carver.h"

namespace c63::cuda {

/// MCUs that one thread block codes; their bits are put together in shared memory.
inline constexpr int kMcusPerSegment = 8;
inline constexpr int kBlocksPerSegment = kMcusPerSegment * kBlocksPerMcu;

inline constexpr int kMaxBlockWords = (kMaxBlockBits + 31) / 32;
inline constexpr int kMaxSegmentWords = kBlocksPerSegment * kMaxBlockWords;

/// The DC levels that a segment's first ones are coded against: of the last Y block, U and V of the MCU before.
inline constexpr int kCarriedBlocks = 3;

/// Where the parts of a frame lie on the device.
///
/// A picture is its three padded planes one after another, each from a multiple of kDeviceAlignment on, rows of exactly
/// the plane's width. Per-block arrays (vectors, SADs, masks) hold the blocks of Y, then U, then V, in raster order.
struct FrameLayout {
  int mcu_columns = 0;
  int mcus = 0;
  int segments = 0;  ///< runs of kMcusPerSegment MCUs in coding order
  int blocks = 0;
  std::array<int, kPlanes> width{};           ///< of the padded planes
  std::array<int, kPlanes> columns{};         ///< blocks a row
  std::array<int, kPlanes> first_block{};     ///< of a plane in a per-block array
  std::array<std::size_t, kPlanes> offset{};  ///< of a plane in a picture
  std::array<std::size_t, kPlanes> coded{};   ///< samples from a plane's start that belong to the picture
  std::size_t picture_bytes = 0;              ///< with room past the last plane for reads of whole words

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
