#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/geometry.h"
#include "codec/host_device.h"
#include "decide/weights.h"
#include "decide/cost.h"
#include "decide/source_motion.h"

namespace c63 {

/// How important the error of a block is: the more blocks are predicted from it, the more. The number has 8 fraction
/// bits. It is kPlainImportance if no block is predicted from it. Only a block that predicts very many others reaches
/// kMostImportance. With this limit, products with shares and areas fit in 32 bits.
inline constexpr std::uint32_t kPlainImportance = 256;
inline constexpr std::uint32_t kMostImportance = 1 << 20;

/// The error that a luma block inherits from its reference. If the prediction is good, the block's residual is coded as
/// zero, so the reference's error remains.
struct PassedError {
  MotionVector vector;
  std::uint16_t share = 0;  ///< share of the reference's squared error that remains, with 8 fraction bits
};
/// PassedError of all luma blocks of a frame, in raster order.
using ErrorFlow = std::vector<PassedError>;

/// Returns the share of the reference's squared error that remains in a block with this prediction error, with 8
/// fraction bits.
[[nodiscard]] C63_HD constexpr std::uint16_t passed_share(std::uint32_t squared_error, Cost lambda) {
  // If the prediction's squared error is 2λ per sample (0.4 squared steps), half of the amplitude of the reference's
  // error remains. Smaller residuals are mostly coded as zero, so more of it remains.
  const std::uint64_t scale = lambda < 1 ? 1 : 2 * static_cast<std::uint64_t>(lambda);
  const std::uint64_t mean = (std::uint64_t{squared_error} << kCostFractionBits) / kBlockSamples;
  const auto survives = static_cast<std::uint32_t>(256 * scale / (scale + mean));
  return static_cast<std::uint16_t>(survives * survives / 256);
}

/// Splits `passed` among the blocks of the reference that overlap the prediction of a block with this vector. Calls
/// add(column, row, part) for each of them.
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

/// Returns by how much λ of a frame is higher, in quarters of an octave; below 0: lower. `dependents` is the number of
/// frames that are predicted from it.
[[nodiscard]] C63_HD constexpr int dependents_quarters(int dependents) { return dependents == 0 ? 2 : dependents == 1 ? 0 : -1; }

/// Returns the weight of an MCU whose luma blocks have this mean importance. λ of the MCU is proportional to the
/// importance to the power of -0.3. At kPlainImportance, it is 0.6 quarters of an octave above the frame's λ.
/// `quarters` raises it by that many quarters of an octave.
[[nodiscard]] C63_HD constexpr Weight importance_weight(std::uint32_t importance, int quarters) {
  const int sixteenths = log2_in_sixteenths(importance) - log2_in_sixteenths(kPlainImportance);
  constexpr int kForty = kWeights * 40;  // keeps the quotient positive
  return weight_above(quarters + (24 + 20 - 3 * sixteenths + kForty) / 40 - kWeights);
}

/// Returns how errors pass from a frame's reference into the frame, for a frame with this motion and λ.
[[nodiscard]] ErrorFlow error_flow(const SourceMotion& motion, Cost lambda);

/// A frame after the one whose weights are computed.
struct LaterFrame {
  const ErrorFlow* flow = nullptr;
  std::size_t back = 1;  ///< distance to its reference, in frames
};

/// Returns the weights of a frame's MCUs by how long their errors remain visible. `later` has the following frames, in
/// order.
[[nodiscard]] FrameWeights propagated_weights(const Geometry& geometry, std::span<const LaterFrame> later);

}  // namespace c63
