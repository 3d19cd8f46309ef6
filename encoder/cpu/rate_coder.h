#pragma once

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <array>
#include <cstdint>
#include <vector>

#include "cpu/cost_search.h"
#include "cpu/frame_coder.h"
#include "cpu/row_decider.h"

namespace c63::cpu {

/// Decides vectors and levels of blocks by rate and distortion. A row is decided after all rows have been searched,
/// because decisions use the results of neighbouring rows.
class RateCoder final : public FrameCoder {
 public:
  RateCoder(const CodingSettings& settings, const Kernels& kernels);

  void begin(const FrameJob& job) override;
  void prepare_row(int mcu_row) override;
  void prepare() override;
  std::uint64_t search_row(int mcu_row) override;
  std::int64_t code_row(int mcu_row) override;
  [[nodiscard]] bool codes_after_search() const override { return true; }

  /// The squared error of an MCU row if the frame repeats the previous picture, over all samples of the planes. It is
  /// weighted if decisions are.
  [[nodiscard]] std::uint64_t repeat_error(int mcu_row) const;

 private:
  /// The weights of a plane's error in an MCU row; null: no weights.
  [[nodiscard]] const Weight* weights_of_row(int plane, int mcu_row) const;
  /// Fills the row's syntax elements. Returns D + λR.
  std::int64_t decide_row(int mcu_row);

  /// Of the frame, for luma and chroma; empty: none.
  FrameWeights weights_;
  FrameWeights chroma_weights_;
  std::array<std::vector<LevelTable>, kPlanes> levels_;  ///< for the frame's λ, or one for each weight
  QuantizationTables level_tables_{};                    ///< the quantization tables of levels_
  Cost lambda_ = 0;                                      ///< for the frame's λ, or one for each weight
  std::vector<CostSearch> searches_;  ///< one for each plane
  oneapi::tbb::enumerable_thread_specific<RowDecider> deciders_;
};

}  // namespace c63::cpu
