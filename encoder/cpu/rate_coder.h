#pragma once

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <array>
#include <cstdint>
#include <vector>

#include "cpu/cost_search.h"
#include "cpu/kernels.h"
#include "cpu/padded_picture.h"
#include "cpu/row_decider.h"
#include "decide/frame_plan.h"

namespace c63::cpu {

/// The search and the decisions by rate and distortion of one GOP chain, a frame at a time. As in FrameCoder, MCU rows may be
/// worked on at the same time within each step; a row may be decided when all have been searched.
class RateCoder {
 public:
  RateCoder(const Kernels& kernels, const Geometry& geometry, int search_range);

  /// The next frame and its plan.
  void begin(const FramePlan& plan, const PaddedPicture& current);

  // An inter frame is searched as in FrameCoder.
  void begin_search(const PaddedPicture& current, const PaddedPicture& reference);
  void prepare_row(int mcu_row);
  std::uint64_t search_row(int mcu_row);

  /// Decides an MCU row: fills `syntax` as RowDecider says. Returns D + λR.
  std::int64_t decide_row(const PaddedPicture& current, const PaddedPicture& reference, int mcu_row, FrameSyntax& syntax);
  /// The blocks that were decided to be without a vector, all of the frame.
  [[nodiscard]] const BlockMask& without_vector() const { return without_vector_; }
  /// The weights of a plane's error in an MCU row; null: there are none.
  [[nodiscard]] const Weight* weights_of_row(int plane, int mcu_row) const;

 private:
  Geometry geometry_;
  const FramePlan* plan_ = nullptr;
  /// Of the frame, for luma and chroma; empty: none.
  FrameWeights weights_;
  FrameWeights chroma_weights_;
  std::array<std::vector<LevelTable>, kPlanes> levels_;  ///< of the frame's λ alone, or one for each weight
  QuantizationTables tables_{};                          ///< those of levels_
  Cost lambda_ = 0;                                      ///< likewise
  std::vector<CostSearch> searches_;  ///< one for each plane
  BlockMask without_vector_;
  oneapi::tbb::enumerable_thread_specific<RowDecider> deciders_;
};

}  // namespace c63::cpu
