#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bitstream/frame_syntax.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "cpu/narrow_decider.h"
#include "cpu/row_input.h"
#include "decide/rdoq.h"
#include "decide/beam.h"
#include "decide/weights.h"

namespace c63::cpu {

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
