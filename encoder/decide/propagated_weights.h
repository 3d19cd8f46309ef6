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

/// How much a luma block's error counts, with 8 fraction bits, stops here where many are predicted from few, again and again:
/// products with shares and areas fit in 32 bits.
inline constexpr std::uint32_t kPlainImportance = 256;
inline constexpr std::uint32_t kMostImportance = 1 << 20;

/// What a luma block takes over of the error of its reference: one that is predicted well passes it on instead of coding it
/// away.
struct PassedError {
  MotionVector vector;
  std::uint16_t share = 0;  ///< of the squared error, with 8 fraction bits
};
/// Of all luma blocks of a frame, in raster order.
using ErrorFlow = std::vector<PassedError>;

/// The share of a reference's squared error that a block takes over which has this error against it, with 8 fraction bits.
[[nodiscard]] C63_HD constexpr std::uint16_t passed_share(std::uint32_t squared_error, Cost lambda) {
  // An error of 2λ a sample, 0.4 squared steps: what is below is mostly coded as nothing.
  const std::uint64_t scale = lambda < 1 ? 1 : 2 * static_cast<std::uint64_t>(lambda);
  const std::uint64_t mean = (std::uint64_t{squared_error} << kCostFractionBits) / kBlockSamples;
  const auto survives = static_cast<std::uint32_t>(256 * scale / (scale + mean));
  return static_cast<std::uint16_t>(survives * survives / 256);
}

/// What a block with this vector passes on to the blocks of its reference, `passed` in all: calls add(column, row, part) for
/// each that it overlaps.
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

/// Quarters of an octave of λ for a whole frame from which so many frames are predicted: none, one or several.
[[nodiscard]] C63_HD constexpr int dependents_quarters(int dependents) { return dependents == 0 ? 2 : dependents == 1 ? 0 : -1; }

/// The weight of an MCU whose luma blocks count so much in the mean: λ falls with the power 0.3 of that, from 0.6 quarters of
/// an octave above the frame's, which `quarters` are added to.
[[nodiscard]] C63_HD constexpr Weight importance_weight(std::uint32_t importance, int quarters) {
  const int sixteenths = log2_in_sixteenths(importance) - log2_in_sixteenths(kPlainImportance);
  constexpr int kForty = kWeights * 40;  // a shift that keeps the quotient positive
  return weight_above(quarters + (24 + 20 - 3 * sixteenths + kForty) / 40 - kWeights);
}

/// How the errors of the frame before flow into a frame that has this motion against it and is coded with this λ.
[[nodiscard]] ErrorFlow error_flow(const SourceMotion& motion, Cost lambda);

/// A frame behind the one that is weighed.
struct LaterFrame {
  const ErrorFlow* flow = nullptr;
  std::size_t back = 1;  ///< how many frames before it lies its reference
};

/// Weights of a frame by how much of its error will be seen, and for how long. `later` has the frames behind it, in order.
[[nodiscard]] FrameWeights propagated_weights(const Geometry& geometry, std::span<const LaterFrame> later);

}  // namespace c63
