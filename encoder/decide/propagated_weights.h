#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/geometry.h"
#include "codec/host_device.h"
#include "decide/activity_weights.h"
#include "decide/cost.h"
#include "decide/frame_weights.h"
#include "decide/source_motion.h"

namespace c63 {

/// The importance of a luma block's error has 8 fraction bits. It is limited, because it grows without end if many blocks are
/// predicted from few. So products with shares and areas fit in 32 bits.
inline constexpr std::uint32_t kPlainImportance = 256;
inline constexpr std::uint32_t kMostImportance = 1 << 20;

/// The error that a luma block takes over from its reference. A block that is predicted well passes it on instead of correcting it.
struct PassedError {
  MotionVector vector;
  std::uint16_t share = 0;  ///< of the squared error, with 8 fraction bits
};
/// The passed errors of all luma blocks of a frame, in raster order.
using ErrorFlow = std::vector<PassedError>;

/// The share of the reference's squared error that a block with this prediction error takes over, with 8 fraction bits.
[[nodiscard]] C63_HD constexpr std::uint16_t passed_share(std::uint32_t squared_error, Cost lambda) {
  // The limit is an error of 2λ per sample, or 0.4 squared steps: smaller residuals are mostly coded as zero.
  const std::uint64_t scale = lambda < 1 ? 1 : 2 * static_cast<std::uint64_t>(lambda);
  const std::uint64_t mean = (std::uint64_t{squared_error} << kCostFractionBits) / kBlockSamples;
  const auto survives = static_cast<std::uint32_t>(256 * scale / (scale + mean));
  return static_cast<std::uint16_t>(survives * survives / 256);
}

/// Splits `passed` among the blocks of the reference that a block with this vector overlaps: calls add(column, row, part) for each.
template <typename Add>
C63_HD void pass_on(int column, int row, MotionVector vector, std::uint32_t passed, Add&& add) {
  const int x = column * kBlockSize + vector.x;
  const int y = row * kBlockSize + vector.y;
  const int right = x % kBlockSize;
  const int below = y % kBlockSize;
  const auto add_part = [&](int dx, int dy, int area) {
    if (area == 0) return;
    add(x / kBlockSize + dx, y / kBlockSize + dy, passed * static_cast<std::uint32_t>(area) / kBlockSamples);
  };
  add_part(0, 0, (kBlockSize - right) * (kBlockSize - below));
  add_part(1, 0, right * (kBlockSize - below));
  add_part(0, 1, (kBlockSize - right) * below);
  add_part(1, 1, right * below);
}

/// The change of λ of a frame from which `dependents` frames are predicted, in quarters of an octave.
[[nodiscard]] C63_HD constexpr int dependents_quarters(int dependents) { return dependents == 0 ? 2 : dependents == 1 ? 0 : -1; }

/// The weight of an MCU whose luma blocks have this mean importance. At plain importance λ is
/// 0.6 quarters of an octave above the frame's. It falls with the power 0.3 of the importance. `quarters` is added.
[[nodiscard]] C63_HD constexpr Weight importance_weight(std::uint32_t importance, int quarters) {
  const int sixteenths = log2_in_sixteenths(importance) - log2_in_sixteenths(kPlainImportance);
  constexpr int kForty = kWeights * 40;  // keeps the quotient positive
  return weight_above(quarters + (24 + 20 - 3 * sixteenths + kForty) / 40 - kWeights);
}

/// The flow of errors from the previous frame into a frame with this motion and this λ.
[[nodiscard]] ErrorFlow error_flow(const SourceMotion& motion, Cost lambda);

/// A frame after the one that is weighed.
struct LaterFrame {
  const ErrorFlow* flow = nullptr;
  std::size_t back = 1;  ///< distance to its reference, in frames
};

/// The weights of a frame by how much of its error will be seen, and for how long. `later` holds the following frames, in order.
[[nodiscard]] FrameWeights propagated_weights(const Geometry& geometry, std::span<const LaterFrame> later);

}  // namespace c63
