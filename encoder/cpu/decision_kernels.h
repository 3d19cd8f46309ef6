#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/bit_cost.h"
#include "cpu/kernel_blocks.h"
#include "decide/ac_choice.h"
#include "decide/beam.h"
#include "decide/block_costs.h"
#include "decide/quantizer.h"

namespace c63::cpu {

/// Entries that must be readable after every row of costs. Their values do not matter.
inline constexpr int kCostGuard = 32;
/// What a vector out of range costs: more than any SAD with any other cost. There are this many of them before every
/// row.
inline constexpr std::uint16_t kOutOfRange = 0x8000;
inline constexpr int kOutOfRangeColumns = 8;

/// A block to search by SAD and the cost of vectors.
struct CostedSearch : StartedSearch {
  Position own;                            ///< of the block in its plane
  const std::uint16_t* costs = nullptr;    ///< costs of the window's vectors, row by row
  const std::uint8_t* quarters = nullptr;  ///< the same divided by four, rounded down, at most 255
  std::ptrdiff_t cost_pitch = 0;           ///< of both
  std::uint32_t* keys = nullptr;           ///< the result goes there
};

/// The size of the largest AC level, and the number of zeros that have a separate code.
inline constexpr std::size_t kMaxLevelSize = 10;
/// The sizes in LevelTable::bits_by_size. Larger levels are rare.
inline constexpr std::size_t kMaxSmallSize = 8;
inline constexpr std::size_t kZeroRun = 16;

/// The data for choosing the levels of a plane's blocks.
struct LevelTable {
  LevelTable() = default;
  LevelTable(const QuantizationTable& quantization, int plane_index, Cost lambda_of_frame)
      : quantizer(quantization, plane_index),
        bits(ac_bits(plane_index)),
        plane(plane_index),
        lambda(lambda_of_frame) {
    for (std::size_t zeros = 0; zeros < last_caps.size(); ++zeros) last_caps[zeros] = last_cap(static_cast<int>(zeros));
    for (std::size_t k = 0; k < 64; ++k) short_reciprocals[k] = static_cast<std::uint16_t>(quantizer.reciprocals[k]);
    for (std::size_t size = 1; size <= kMaxLevelSize; ++size) {
      for (std::size_t zeros = 0; zeros < kZeroRun; ++zeros) {
        const int level_bits = bits.level(static_cast<int>(zeros), static_cast<int>(size));
        level_costs[size][zeros] = lambda * level_bits;
        if (size <= kMaxSmallSize) bits_by_size[(size - 1) * kZeroRun + zeros] = static_cast<std::uint16_t>(level_bits);
      }
    }
  }

  Quantizer quantizer;
  AcBits bits;
  int plane = 0;
  Cost lambda = 0;
  /// A coefficient up to this magnitude after at least 0, 1 or 2 zeros saves no more than its code costs. So it is
  /// never the last coded one, except number 63, which also saves the end of block.
  std::array<std::int16_t, 3> last_caps{};
  /// the quantizer's; 0 stands for 2^16, which belongs to step 1
  alignas(64) std::array<std::uint16_t, 64> short_reciprocals{};
  /// λ times the bits of a level, by its size and the number of zeros before it, up to fifteen; sixteen zeros have a
  /// separate code. Size 0 costs nothing.
  alignas(64) std::array<std::array<Cost, kZeroRun>, kMaxLevelSize + 1> level_costs{};
  /// The bits of levels of sizes 1 to kMaxSmallSize after 0 to 15 zeros.
  alignas(64) std::array<std::uint16_t, kMaxSmallSize * kZeroRun> bits_by_size{};

 private:
  [[nodiscard]] std::int16_t last_cap(int zeros) const {
    int least =
        AcBits::kNoCode;  // bits of a level after this many zeros or more; from sixteen on they need one more code
    for (std::size_t size = 1; size <= kMaxLevelSize; ++size) {
      for (int z = zeros; z < static_cast<int>(kZeroRun); ++z) least = std::min(least, bits.level(z, static_cast<int>(size)));
    }
    std::int16_t root = 0;
    while (square(root + 1) <= least * lambda) ++root;
    return root;
  }
};

/// The bits of DC differences by their size, of luma and of chroma: a register for look-ups.
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

/// A block, and one of its possible predictions.
struct BlockPair {
  const std::uint8_t* current = nullptr;
  std::ptrdiff_t current_pitch = 0;
  BlockPrediction prediction;
};

/// A block with one or two candidates. If there is only one, it also stands for the second.
struct NarrowCandidates {
  std::array<const TransformedBlock*, 2> blocks{};
  std::array<Cost, 2> ac{};  ///< cost of their AC levels
  std::array<VectorNumber, 2> vectors{};
  std::array<std::int32_t, 2> vector_bits{};  ///< as in BeamCandidate
  int count = 0;
  int row = 0;  ///< in the block rows of the MCU row
};

/// The choice for a block.
struct BlockChoice {
  std::uint8_t lane = 0;  ///< as in BeamChoice
  bool without_ac = false;
  std::int16_t level = 0;  ///< of DC
};

/// The kernels of decisions by rate and distortion. They exist once per instruction set and give the same results.
struct DecisionKernels {
  /// Finds the best `count` candidates of each block's window by SAD and cost; of equal ones the first in raster order.
  /// Writes each as candidate_key(cost, index), in order, and UINT32_MAX after the last. `sums` are those of the
  /// reference plane; they only save time.
  void (*search_best)(std::span<const CostedSearch> blocks, const QuarterSumsView& sums, std::size_t count);

  /// Transforms the residuals of blocks.
  void (*transform_blocks)(std::span<const BlockPair> pairs, const LevelTable& table, TransformedBlock* blocks);

  /// choose_ac_masks() of each block.
  void (*choose_levels)(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices);

  /// Computes the 64 levels of a choice. The first one is `dc`.
  void (*write_levels)(const TransformedBlock& block, const LevelTable& table, const AcChoice& choice, std::int16_t dc,
                       std::int16_t* levels);

  /// Gives a candidate with these AC costs its levels by dc_levels() and its costs by block_costs(). Returns
  /// block_costs()'s `without_ac`.
  std::uint8_t (*cost_candidate)(const TransformedBlock& block, Cost ac, const LevelTable& table, BeamCandidate& candidate);

  /// extend_beam().
  BeamChoices (*extend_beam)(Beam& beam, int width, const BeamCandidate* candidates, int count, int row, int plane,
                             Cost lambda);

  /// cost_candidate() and extend_beam() of width 1, block by block.
  void (*extend_narrow)(Beam& beam, std::span<const NarrowCandidates> blocks, const LevelTable& table, BlockChoice* choices);
};

/// Chooses the AC levels of blocks by cost, or rounds them.
inline void decide_levels(const DecisionKernels& kernels, bool by_cost, std::span<const TransformedBlock> blocks,
                          const LevelTable& table, AcChoice* choices) {
  if (by_cost) return kernels.choose_levels(blocks, table, choices);
  for (const TransformedBlock& block : blocks) {
    *choices++ = round_ac_masks(block.coefficients.data(), block.ac, table.quantizer, table.bits, table.lambda);
  }
}

/// extend_narrow() as it is defined, made of two other kernels.
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

/// The definition of correct.
[[nodiscard]] const DecisionKernels& scalar_decision_kernels();

// Tables of the instruction sets in this build. Call them only if the machine has the instruction set.
[[nodiscard]] const DecisionKernels& avx2_decision_kernels();
[[nodiscard]] const DecisionKernels& avx512_decision_kernels();

}  // namespace c63::cpu
