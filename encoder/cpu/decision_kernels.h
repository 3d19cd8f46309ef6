#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/bit_cost.h"
#include "cpu/kernel_blocks.h"
#include "decide/rdoq.h"
#include "decide/beam.h"

namespace c63::cpu {

/// The size (number of bits) of the largest AC level.
inline constexpr std::size_t kMaxLevelSize = 10;
/// The largest size for which LevelTable::bits_by_size has entries. Levels of larger sizes are rare.
inline constexpr std::size_t kMaxSmallSize = 8;
/// A level's code includes the zeros before the level if there are fewer than kZeroRun. kZeroRun zeros have a code of
/// their own.
inline constexpr std::size_t kZeroRun = 16;

/// The quantizer, the code lengths and λ with which the levels of a plane's blocks are chosen.
struct LevelTable {
  LevelTable() = default;
  LevelTable(const QuantizationTable& quantization, int plane_index, Cost lambda_of_frame)
      : quantizer(quantization, plane_index),
        bits(ac_bits(plane_index)),
        plane(plane_index),
        lambda(lambda_of_frame) {
    for (std::size_t zeros = 0; zeros < last_caps.size(); ++zeros) last_caps[zeros] = last_cap(static_cast<int>(zeros));
    for (std::size_t k = 0; k < 64; ++k) {
      short_reciprocals[k] = static_cast<std::uint16_t>(quantizer.reciprocals[k]);
      quantizers[k] = static_cast<std::uint32_t>(quantizer.reciprocals[k]) << 8 | quantizer.steps[k];
    }
    for (std::size_t i = 0; i < bits_by_size.size(); ++i) {
      const int zeros = static_cast<int>(i % kZeroRun);
      bits_by_size[i] = static_cast<std::uint8_t>(bits.level(zeros, static_cast<int>(i / kZeroRun + 1)));
    }
  }

  Quantizer quantizer;
  AcBits bits;
  int plane = 0;
  Cost lambda = 0;
  /// Entry z is for coefficients with at least z zeros before them. If the magnitude of such a coefficient is at most
  /// the entry, coding it reduces the error by no more than its code costs. So such a coefficient is never the last
  /// coded one of a block. Coefficient 63 is an exception, because after it no end of block is needed.
  std::array<std::int16_t, 3> last_caps{};
  /// The quantizer's reciprocals in 16 bits. 0 means 2^16, the reciprocal of step 1.
  alignas(64) std::array<std::uint16_t, 64> short_reciprocals{};
  /// The quantizer's reciprocals in the upper 24 bits, its steps in the lowest byte.
  alignas(64) std::array<std::uint32_t, 64> quantizers{};
  /// The bits of the codes of levels, for sizes 1 to kMaxSmallSize and 0 to 15 zeros before the level. Their index is
  /// (size - 1)·kZeroRun + zeros.
  alignas(64) std::array<std::uint8_t, kMaxSmallSize * kZeroRun> bits_by_size{};

 private:
  [[nodiscard]] std::int16_t last_cap(int zeros) const {
    // The fewest bits of any level with at least `zeros` zeros before it. Only up to 15 zeros are tried: sixteen zeros
    // need another code, so they are never cheaper.
    int least =
        AcBits::kNoCode;
    for (std::size_t size = 1; size <= kMaxLevelSize; ++size) {
      for (int z = zeros; z < static_cast<int>(kZeroRun); ++z) least = std::min(least, bits.level(z, static_cast<int>(size)));
    }
    std::int16_t root = 0;
    while (square(root + 1) <= least * lambda) ++root;
    return root;
  }
};

/// The bits of a DC difference by its size: row 0 for luma, row 1 for chroma. A row has 16 bytes, so one register can
/// hold it for table look-ups.
alignas(16) inline constexpr auto kDcBitsOfSizes = [] {
  constexpr int kMaxDcSize = 12;
  std::array<std::array<std::uint8_t, 16>, 2> bits{};
  for (int size = 0; size <= kMaxDcSize; ++size) {
    for (const int plane : {0, 1}) {
      bits[static_cast<std::size_t>(plane)][static_cast<std::size_t>(size)] = static_cast<std::uint8_t>(dc_bits((1 << size) - 1, plane));
    }
  }
  return bits;
}();

/// A block and one prediction that is tried for it.
struct BlockPair {
  const std::uint8_t* current = nullptr;
  std::ptrdiff_t current_pitch = 0;
  BlockPrediction prediction;
};

/// A block with one or two candidates. If there is only one, each array has its data twice.
struct NarrowCandidates {
  std::array<const TransformedBlock*, 2> blocks{};
  std::array<Cost, 2> ac{};  ///< cost of each candidate's AC levels
  std::array<VectorNumber, 2> vectors{};
  std::array<std::int32_t, 2> vector_bits{};  ///< as in BeamCandidate
  int count = 0;
  int row = 0;  ///< block row within the MCU row, 0 or 1
};

/// What was chosen for a block.
struct BlockChoice {
  std::uint8_t lane = 0;  ///< index of the candidate · kDcLevels + index of its DC level
  bool without_ac = false;
  std::int16_t level = 0;  ///< the DC level
};

/// The kernels for decisions by rate and distortion. They exist once per instruction set, and all forms give the same
/// results.
struct DecisionKernels {
  /// Computes and transforms the residual of each pair. Writes one entry of `blocks` for each.
  void (*transform_blocks)(std::span<const BlockPair> pairs, const LevelTable& table, TransformedBlock* blocks);

  /// Chooses the AC levels of each block as choose_ac_masks() does.
  void (*choose_levels)(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices);

  /// Computes the 64 levels of a block: `dc`, and then the AC levels of `choice`.
  void (*write_levels)(const TransformedBlock& block, const LevelTable& table, const AcChoice& choice, std::int16_t dc,
                       std::int16_t* levels);

  /// Sets the DC levels of a candidate as dc_levels() does, and their costs as block_costs() does. `ac` is the cost of
  /// the candidate's AC levels. Returns the bits `without_ac` of block_costs().
  std::uint8_t (*cost_candidate)(const TransformedBlock& block, Cost ac, const LevelTable& table, BeamCandidate& candidate);

  /// Does what extend_beam() of decide/beam.h does.
  BeamChoices (*extend_beam)(Beam& beam, int width, const BeamCandidate* candidates, int count, int row, int plane,
                             Cost lambda);

  /// Block by block, does cost_candidate() for the block's candidates, and then extend_beam() with a beam of one state.
  void (*extend_narrow)(Beam& beam, std::span<const NarrowCandidates> blocks, const LevelTable& table, BlockChoice* choices);
};

/// Chooses the AC levels of blocks by cost, or rounds them if `by_cost` is false.
inline void decide_levels(const DecisionKernels& kernels, bool by_cost, std::span<const TransformedBlock> blocks,
                          const LevelTable& table, AcChoice* choices) {
  if (by_cost) return kernels.choose_levels(blocks, table, choices);
  for (const TransformedBlock& block : blocks) {
    *choices++ = round_ac_masks(block.coefficients.data(), block.ac, table.quantizer, table.bits, table.lambda);
  }
}

/// The definition of extend_narrow(): it calls cost_candidate() and extend_beam() for one block after another.
template <auto kCostCandidate, auto kExtendBeam>
void extend_narrow_by(Beam& beam, std::span<const NarrowCandidates> blocks, const LevelTable& table, BlockChoice* choices) {
  for (const NarrowCandidates& block : blocks) {
    std::array<BeamCandidate, 2> candidates;
    std::array<std::uint8_t, 2> without_ac{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i) {
      without_ac[i] = kCostCandidate(*block.blocks[i], block.ac[i], table, candidates[i]);
      candidates[i].vector = block.vectors[i];
      candidates[i].vector_bits = block.vector_bits[i];
    }
    const std::uint8_t lane =
        kExtendBeam(beam, 1, candidates.data(), block.count, block.row, table.plane, table.lambda)[0].lane;
    const std::size_t candidate = lane / std::size_t{kDcLevels};
    const std::size_t dc = lane % std::size_t{kDcLevels};
    *choices++ = {lane, (without_ac[candidate] >> dc & 1) != 0, candidates[candidate].levels[dc]};
  }
}

/// The kernels that define the correct results.
[[nodiscard]] const DecisionKernels& scalar_decision_kernels();

// Tables of the instruction sets in this build. Use them only if the machine has the instruction set.
[[nodiscard]] const DecisionKernels& avx2_decision_kernels();
[[nodiscard]] const DecisionKernels& avx512_decision_kernels();

}  // namespace c63::cpu
