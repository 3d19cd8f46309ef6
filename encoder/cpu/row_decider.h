#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bitstream/frame_syntax.h"
#include "codec/geometry.h"
#include "cpu/cost_search.h"
#include "cpu/kernels.h"
#include "decide/beam.h"
#include "decide/frame_weights.h"
#include "decide/rate_decisions.h"

namespace c63::cpu {

/// What the decisions of one plane in one MCU row are made of.
struct RowInput {
  int plane = 0;
  int mcu_row = 0;
  ConstPlaneView current;
  ConstPlaneView reference;          ///< not read in key frames
  const CostSearch* search = nullptr;  ///< that has searched this and the neighbouring rows; null in key frames
  const RateDecisions* rate = nullptr;
  const LevelTable* levels = nullptr;  ///< of the frame's λ, or where there are weights, one for each of them
  const Weight* weights = nullptr;     ///< of the row's MCUs; null: none
  const std::uint8_t* unpredicted = nullptr;  ///< blocks that must do without a vector; null: none
  std::uint8_t* without_vector = nullptr;     ///< is told of each block whether it does
};

/// Decides by D + λR which vectors, DC levels and AC levels the blocks of an MCU row have. One thread uses it at a time.
class RowDecider {
 public:
  RowDecider(const Kernels& kernels, const Geometry& geometry);

  /// Decides one plane of a row: fills its levels in `syntax`, and the vectors of those blocks that have one. Of the others
  /// `syntax` says how they are predicted. Returns D + λR of what was chosen, headers and the first DC levels not counted; where
  /// there are weights, D is weighted.
  std::int64_t decide(const RowInput& input, PlaneSyntax& syntax);

 private:
  /// Blocks that are worked on together, stage by stage, so that none waits for what another one comes to.
  static constexpr int kGroup = 8;

  /// The ways to code one block.
  struct Options {
    std::array<BeamCandidate, kBeamCandidates> candidates;
    std::array<BlockPrediction, kBeamCandidates> predictions;
    std::array<std::uint8_t, kBeamCandidates> without_ac;  ///< a bit for each DC level
    std::array<std::uint8_t, kBeamCandidates> transformed;  ///< places in transformed_, while the group is worked on
    int count = 0;
    std::size_t written = 0;  ///< the candidate whose AC levels are in the syntax already
  };
  /// What the end of a row looks back on.
  struct Decided {
    int block = 0;
    const std::uint8_t* samples = nullptr;
    Weight weight = kPlainWeight;
    const LevelTable* table = nullptr;
    Options options;
    BeamChoices choices;
  };

  static void list_candidates(const RowInput& input, const PlaneSyntax& syntax, int column, int row, Options& options);
  /// Finds the candidates of blocks of one weight from number `first` on, at most kGroup; returns how many blocks these are.
  static std::size_t begin_group(const RowInput& input, const PlaneSyntax& syntax, int first, int count, Decided* group);
  /// Transforms the candidates of a group of blocks.
  void transform(const RowInput& input, std::span<Decided> group);
  /// Leaves those candidates of a group's blocks that may be chosen, with their costs; writes the AC levels of each block's most
  /// promising one.
  void evaluate(const RowInput& input, std::span<Decided> group, PlaneSyntax& syntax) const;
  /// Chooses AC levels, and returns what they cost; writes them where `levels` is not null, unless all are zero anyway.
  Cost ac_levels(const RowInput& input, const LevelTable& table, const TransformedBlock& block, std::int16_t* levels) const;
  /// Writes what was chosen for a block, but for AC levels that are neither written already nor all zero: then returns false.
  static bool write(const RowInput& input, const Decided& decided, BeamChoice choice, PlaneSyntax& syntax);
  /// Writes the AC levels of a block, whose DC level is written.
  void write_levels(const RowInput& input, const LevelTable& table, const TransformedBlock& block, std::int16_t* levels) const;
  /// Goes back through a row from the cheapest state, and writes it.
  void write_row(const RowInput& input, int count, PlaneSyntax& syntax);

  const DecisionKernels& decisions_;
  std::array<TransformedBlock, kGroup * kBeamCandidates> transformed_;  ///< a block's candidates behind those of the block before
  std::vector<Decided> decided_;  ///< blocks of the row in coding order, or only those that are together
};

}  // namespace c63::cpu
