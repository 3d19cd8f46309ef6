#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bitstream/frame_syntax.h"
#include "cpu/kernels.h"
#include "cpu/row_input.h"
#include "decide/ac_choice.h"
#include "decide/beam.h"

namespace c63::cpu {

/// A RowDecider for blocks with at most two candidates (the searched vector and none) and a beam of one state. A choice
/// for a block is then final. All blocks of a row go through each stage together.
class NarrowDecider {
 public:
  explicit NarrowDecider(const DecisionKernels& kernels) : decisions_(kernels) {}

  [[nodiscard]] static bool decides(const RateDecisions& rate) { return rate.beam_width == 1 && rate.found_vectors == 0; }

  /// RowDecider::decide().
  std::int64_t decide(const RowInput& input, PlaneSyntax& syntax);

 private:
  static constexpr std::size_t kGroup = 96;
  static constexpr std::size_t kCandidates = 2 * kGroup;
  static_assert(kCandidates <= 256);

  struct Block {
    int number = 0;             ///< in its plane
    std::uint8_t row = 0;       ///< of the MCU row's block rows
    std::uint8_t begin = 0;     ///< of its candidates
    std::uint8_t count = 0;     ///< how many these are
  };

  /// Lists blocks of one weight from number `first` of the row on, and their candidates. Returns the number of these
  /// blocks.
  std::size_t list(const RowInput& input, const PlaneGeometry& geometry, int first, int count);
  void write(const LevelTable& table, const Block& block, BlockChoice choice, PlaneSyntax& syntax) const;

  const DecisionKernels& decisions_;
  std::array<Block, kGroup> blocks_;
  // For each candidate:
  std::array<BlockPair, kCandidates> pairs_;
  std::array<VectorNumber, kCandidates> vectors_;
  std::array<std::int32_t, kCandidates> vector_bits_;
  std::array<TransformedBlock, kCandidates> transformed_;
  std::array<AcChoice, kCandidates> ac_;
};

}  // namespace c63::cpu
