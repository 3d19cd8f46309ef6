#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bitstream/frame_syntax.h"
#include "cpu/kernels.h"
#include "cpu/row_input.h"
#include "decide/rdoq.h"
#include "decide/beam.h"

namespace c63::cpu {

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

}  // namespace c63::cpu
