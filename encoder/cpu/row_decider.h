#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bitstream/frame_syntax.h"
#include "codec/bit_cost.h"
#include "codec/geometry.h"
#include "cpu/block_prediction.h"
#include "cpu/kernels.h"
#include "cpu/plane_search.h"
#include "decide/beam.h"
#include "decide/frame_plan.h"

namespace c63::cpu {

/// The inputs for deciding one plane of one MCU row.
struct RowInput {
  int plane = 0;
  int mcu_row = 0;
  ConstPlaneView current;
  ConstPlaneView reference;          ///< not read in key frames
  const PlaneSearch* search = nullptr;  ///< has searched this row and the neighbouring rows; null in key frames
  const RateDecisions* rate = nullptr;
  const LevelTable* levels = nullptr;  ///< one table for the frame's λ, or one for each weight
  const Weight* weights = nullptr;     ///< weights of the row's MCUs; null: none
  /// vectors that predict blocks coded without their own vector; null: such blocks are predicted from zero
  const PredictionVectors::Plane* inherited = nullptr;

  [[nodiscard]] Weight weight_of(int column) const {
    return weights == nullptr ? kPlainWeight : weights[column / block_rows_per_mcu(plane)];
  }
  [[nodiscard]] const LevelTable& table_of(Weight weight) const { return levels[weights == nullptr ? 0 : weight]; }
  [[nodiscard]] bool may_have_vectors() const { return search != nullptr; }
  [[nodiscard]] BlockPrediction predicted_by(MotionVector v, int column, int row) const {
    return {&reference.at(column * kBlockSize + v.x, row * kBlockSize + v.y), reference.pitch};
  }
  /// The prediction of a block that is coded without a vector.
  [[nodiscard]] BlockPrediction predicted_without_vector(int block, int column, int row) const {
    return inherited != nullptr ? predict_block(*inherited, block, column, row, reference) : no_prediction();
  }
};

/// The position of a block in an MCU row of a plane.
struct RowBlock {
  int column = 0;
  int row = 0;  ///< block row within the MCU row

  /// Finds block number `index` in coding order.
  RowBlock(int plane, int index) : column(index), row(0) {
    if (plane != 0) return;
    column = index / 4 * 2 + index % 2;
    row = index / 2 % 2;
  }
};

/// Returns the bits of a vector, including its flags, if it is not reused from the left neighbour.
[[nodiscard]] inline int bits_of_vector(MotionVector v) {
  static constexpr auto kBits = [] {
    std::array<std::uint8_t, 256> bits{};
    for (int value = -127; value <= 127; ++value) bits[static_cast<std::uint8_t>(value)] = static_cast<std::uint8_t>(vector_component_bits(value));
    return bits;
  }();
  return kVectorFlagBits + kBits[static_cast<std::uint8_t>(v.x)] + kBits[static_cast<std::uint8_t>(v.y)];
}

/// Does the work of RowDecider if blocks have at most two candidates and the beam has one state. The two candidates are
/// the vector that the search chose, and no vector. With one state, the choice for a block is final. So each stage can
/// process many blocks of a row together.
class NarrowDecider {
 public:
  explicit NarrowDecider(const DecisionKernels& kernels) : decisions_(kernels) {}

  [[nodiscard]] static bool decides(const RateDecisions& rate) { return rate.beam_width == 1 && rate.found_vectors == 0; }

  /// Does what RowDecider::decide() does.
  std::int64_t decide(const RowInput& input, PlaneSyntax& syntax);

 private:
  static constexpr std::size_t kGroup = 96;
  static constexpr std::size_t kCandidates = 2 * kGroup;
  static_assert(kCandidates <= 256);

  struct Block {
    int number = 0;             ///< number of the block in its plane
    std::uint8_t row = 0;       ///< block row within the MCU row
    std::uint8_t begin = 0;     ///< index of its first candidate
    std::uint8_t count = 0;     ///< number of its candidates
  };

  /// Lists the blocks of the row from number `first` on, and their candidates. Stops before a block of another weight,
  /// after kGroup blocks, or at the row's end (`count`). Returns the number of listed blocks.
  std::size_t list(const RowInput& input, const PlaneGeometry& geometry, int first, int count);
  void write(const LevelTable& table, const Block& block, BlockChoice choice, PlaneSyntax& syntax) const;

  const DecisionKernels& decisions_;
  std::array<Block, kGroup> blocks_;
  // One entry for each candidate:
  std::array<BlockPair, kCandidates> pairs_;
  std::array<VectorNumber, kCandidates> vectors_;
  std::array<std::int32_t, kCandidates> vector_bits_;
  std::array<TransformedBlock, kCandidates> transformed_;
  std::array<AcChoice, kCandidates> ac_;
};

/// Decides by D + λR which vectors, DC levels and AC levels the blocks of an MCU row have. Only one thread at a time
/// may use an object.
class RowDecider {
 public:
  RowDecider(const Kernels& kernels, const Geometry& geometry);

  /// Decides one plane of an MCU row. Writes the levels to `syntax`, and the vectors of blocks that have one; the
  /// caller must have cleared all vectors. Returns D + λR of the choices, without headers and the bits of the first DC
  /// level. If the input has weights, D is weighted.
  std::int64_t decide(const RowInput& input, PlaneSyntax& syntax);

 private:
  /// The most blocks that go through each stage together, so that no block waits for another's result.
  static constexpr std::size_t kGroup = 32;
  /// The most candidates of such a group. Their transforms stay in the first-level cache.
  static constexpr std::size_t kGroupCandidates = 72;

  /// The candidates of one block and what was computed for them.
  struct Options {
    std::array<BeamCandidate, kBeamCandidates> candidates;
    std::array<BlockPrediction, kBeamCandidates> predictions;
    /// One mask for each candidate. Bit i is set if the block has no AC levels when its DC level is level i, as in
    /// block_costs().
    std::array<std::uint8_t, kBeamCandidates> without_ac;
    std::array<AcChoice, kBeamCandidates> ac;
    int count = 0;
    /// Index of the first candidate in transformed_; only valid while the group is processed.
    std::size_t transformed = 0;
    /// Index of the cheapest candidate, if the other blocks are ignored. If the beam has several states, the AC levels
    /// of this candidate are written before the final choice is known.
    std::size_t first = 0;
  };
  /// What is stored about a block until its choice is written. With a beam of several states, that is at the row's end.
  struct Decided {
    int block = 0;
    const std::uint8_t* samples = nullptr;
    Weight weight = kPlainWeight;
    const LevelTable* table = nullptr;
    Options options;
    BeamChoices choices;
  };

  static void list_candidates(const RowInput& input, const PlaneSyntax& syntax, int column, int row, Options& options);
  /// Lists the blocks of the row from number `first` on, and their candidates. Stops before a block of another weight,
  /// when the group is full, or at the row's end (`count`). Returns the number of listed blocks.
  static std::size_t begin_group(const RowInput& input, const PlaneSyntax& syntax, int first, int count, Decided* group);
  /// Transforms the residuals of all candidates of a group of blocks.
  void transform(const RowInput& input, std::span<Decided> group);
  /// Chooses the AC levels of all candidates of a group, and computes their costs.
  void evaluate(const RowInput& input, std::span<Decided> group) const;
  /// Writes the vector and the DC level that were chosen for a block. If the block has no AC levels, writes zeros for
  /// them and returns false. Otherwise returns true, and the caller must still write the AC levels.
  static bool write(const Decided& decided, BeamChoice choice, PlaneSyntax& syntax);
  /// Writes the AC levels of candidate `candidate`. The DC level must be written already.
  void write_levels(const Decided& decided, std::size_t candidate, const TransformedBlock& block, PlaneSyntax& syntax) const;
  /// Follows the choices from the cheapest state at the row's end back to its start, and writes them.
  void write_row(const RowInput& input, int count, PlaneSyntax& syntax);

  const DecisionKernels& decisions_;
  NarrowDecider narrow_;
  std::array<TransformedBlock, kGroupCandidates>
      transformed_;               ///< the candidates of a group, block after block
  /// The blocks of the row in coding order. With a beam of one state, only the blocks of the current group.
  std::vector<Decided> decided_;
};

}  // namespace c63::cpu
