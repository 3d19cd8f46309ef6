#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/bit_cost.h"
#include "codec/host_device.h"
#include "decide/rdoq.h"
#include "decide/beam.h"
#include "decide/cost.h"

namespace c63 {

/// The transformed difference between a block and one of its predictions.
struct TransformedBlock {
  alignas(64) std::array<std::int16_t, 64> coefficients;  ///< zig-zag order
  std::int32_t residual_sum;      ///< sum of the residuals
  std::int32_t residual_squares;
  AcSummary ac;
};

/// Returns the cost of a block with each of its DC levels, without the bits of flags, vector and DC level. The block
/// either has the AC levels that cost `ac`, or has no AC levels. It has none if that is not more expensive. Bit i of
/// `without_ac` is set if the block has no AC levels with DC level i. The error of a block without AC levels is
/// computed from samples, as a decoder restores them. Otherwise it is computed from coefficients.
[[nodiscard]] C63_HD inline std::array<Cost, kDcLevels> block_costs(const TransformedBlock& block, const DcLevels& dc,
                                                                    Cost ac, const Quantizer& quantizer,
                                                                    const AcBits& bits, Cost lambda,
                                                                    std::uint8_t& without_ac) {
  std::array<Cost, kDcLevels> costs{};
  without_ac = 0;
  for (std::size_t i = 0; i < kDcLevels; ++i) {
    const int flat = flat_residual(dc.levels[i], quantizer.steps[0]);
    const Cost empty = flat_error(block.residual_sum, block.residual_squares, flat) + lambda * bits.end_of_block;
    const Cost coded = ac + dc.errors[i];
    const bool is_empty = block.ac.kept == 0 || empty <= coded;
    if (is_empty) without_ac = static_cast<std::uint8_t>(without_ac | 1U << i);
    costs[i] = !dc.valid[i] ? kInvalidCost : is_empty ? empty : coded;
  }
  return costs;
}

}  // namespace c63
