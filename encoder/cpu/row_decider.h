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
#include "decide/ac_choice.h"
#include "decide/beam.h"
#include "decide/frame_weights.h"

namespace c63::cpu {

/// Decides by D + λR which vectors, DC levels and AC levels the blocks of an MCU row have. Only one thread at a time
/// may use it.
class RowDecider {
 public:
  RowDecider(const Kernels& kernels, const Geometry& geometry);

  /// Decides one plane of a row. Fills its levels in `syntax`, and the vectors of blocks that have one; the other
  /// vectors must be unset before. Returns D + λR of the choices, without headers and the first DC levels. With
  /// weights, D is weighted.
  std::int64_t decide(const RowInput& input, PlaneSyntax& syntax);

 private:
  /// Blocks that go through the stages together, so that none waits for another's result.
  static constexpr std::size_t kGroup = 32;
  /// The most candidates, so that their transforms stay in the first cache.
  static constexpr std::size_t kGroupCandidates = 72;

  /// The possible ways to code one block.
  struct Options {
    std::array<BeamCandidate, kBeamCandidates> candidates;
    std::array<BlockPrediction, kBeamCandidates> predictions;
    std::array<std::uint8_t, kBeamCandidates> without_ac;  ///< a bit for each DC level
    std::array<AcChoice, kBeamCandidates> ac;
    int count = 0;
    std::size_t transformed = 0;  ///< their place in transformed_, while the group is in work
    std::size_t first = 0;        ///< the cheapest candidate alone; in a beam, its AC levels are in the syntax already
  };
  /// The data for going back through a row at its end.
  struct Decided {
    int block = 0;
    const std::uint8_t* samples = nullptr;
    Weight weight = kPlainWeight;
    const LevelTable* table = nullptr;
    Options options;
    BeamChoices choices;
  };

  static void list_candidates(const RowInput& input, const PlaneSyntax& syntax, int column, int row, Options& options);
  /// Finds the candidates of blocks of one weight from number `first` on, at most kGroup. Returns the number of these
  /// blocks.
  static std::size_t begin_group(const RowInput& input, const PlaneSyntax& syntax, int first, int count, Decided* group);
  /// Transforms the candidates of a group of blocks.
  void transform(const RowInput& input, std::span<Decided> group);
  /// Chooses the AC levels of all candidates of a group's blocks, and computes their costs.
  void evaluate(const RowInput& input, std::span<Decided> group) const;
  /// Writes the vector and the DC level chosen for a block. If the choice has no AC levels, writes these, too. Returns
  /// true if it has AC levels.
  static bool write(const Decided& decided, BeamChoice choice, PlaneSyntax& syntax);
  /// Writes all AC levels of a block with candidate `candidate`. Its DC level is written already.
  void write_levels(const Decided& decided, std::size_t candidate, const TransformedBlock& block, PlaneSyntax& syntax) const;
  /// Goes back through a row from the cheapest state, and writes the choices.
  void write_row(const RowInput& input, int count, PlaneSyntax& syntax);

  const DecisionKernels& decisions_;
  NarrowDecider narrow_;
  std::array<TransformedBlock, kGroupCandidates>
      transformed_;               ///< a block's candidates after those of the previous block
  std::vector<Decided> decided_;  ///< blocks of the row in coding order, or only those of the group
};

}  // namespace c63::cpu
