// The decision kernels as decide/ defines them. All other forms are compared with these.

#include <algorithm>
#include <bit>

#include "cpu/decision_kernels.h"
#include "decide/forward_transform.h"

namespace c63::cpu {
namespace {

void transform_blocks(std::span<const BlockPair> pairs, const LevelTable& table, TransformedBlock* blocks) {
  for (const BlockPair& pair : pairs) {
    TransformedBlock& block = *blocks++;
    block.residual_sum = 0;
    block.residual_squares = 0;
    std::int16_t residual[64];
    for (int y = 0; y < kBlockSize; ++y) {
      for (int x = 0; x < kBlockSize; ++x) {
        const int a = pair.current[y * pair.current_pitch + x];
        const int b = pair.prediction.samples[y * pair.prediction.pitch + x];
        block.residual_sum += a - b;
        block.residual_squares += square(a - b);
        residual[y * kBlockSize + x] = half_samples(a, b, pair.prediction.pitch != 0);
      }
    }
    forward_transform(residual, block.coefficients.data(), kTransformWeights, kZigZagPlace);
    block.ac = summarize_ac(block.coefficients.data(), table.quantizer);
  }
}

void choose_levels(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices) {
  for (const TransformedBlock& block : blocks) {
    *choices++ = choose_ac_masks(block.coefficients.data(), block.ac, table.quantizer, table.bits, table.lambda);
  }
}

void write_levels(const TransformedBlock& block, const LevelTable& table, const AcChoice& choice, std::int16_t dc,
                  std::int16_t* levels) {
  std::fill_n(levels, 64, std::int16_t{0});
  levels[0] = dc;
  for (std::uint64_t rest = choice.coded; rest != 0; rest &= rest - 1) {
    const int k = std::countr_zero(rest);
    const bool lower = (choice.lower >> k & 1) != 0;
    levels[k] = static_cast<std::int16_t>(chosen_level(block.coefficients[static_cast<std::size_t>(k)], table.quantizer, k, lower));
  }
}

std::uint8_t cost_candidate(const TransformedBlock& block, Cost ac, const LevelTable& table, BeamCandidate& candidate) {
  const Quantizer& quantizer = table.quantizer;
  const DcLevels dc = dc_levels(block.coefficients[0], quantizer.steps[0], quantizer.reciprocals[0]);
  std::uint8_t without_ac = 0;
  candidate.levels = dc.levels;
  candidate.costs = block_costs(block, dc, ac, quantizer, table.bits, table.lambda, without_ac);
  return without_ac;
}

BeamChoices extend(Beam& beam, int width, const BeamCandidate* candidates, int count, int row, int plane, Cost lambda) {
  return extend_beam(beam, width, candidates, count, row, plane, lambda);
}

}  // namespace

const DecisionKernels& scalar_decision_kernels() {
  static constexpr DecisionKernels kScalar{transform_blocks, choose_levels, write_levels,
                                           cost_candidate, extend,           extend_narrow_by<cost_candidate, extend>};
  return kScalar;
}

}  // namespace c63::cpu
