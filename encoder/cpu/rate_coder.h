#pragma once

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <array>
#include <cstdint>
#include <vector>

#include "cpu/frame_coder.h"
#include "cpu/plane_search.h"
#include "cpu/row_decider.h"

namespace c63::cpu {

/// Decides the vectors and levels of blocks by rate and distortion. All rows are searched before a row is decided,
/// because decisions use the vectors found in neighbouring rows.
class RateCoder final : public FrameCoder {
 public:
  RateCoder(const CodingSettings& settings, const Kernels& kernels);

  void begin(const FrameJob& job) override;
  void prepare_row(int mcu_row) override;
  void prepare() override;
  std::uint64_t search_row(int mcu_row) override;
  std::int64_t code_row(int mcu_row) override;
  [[nodiscard]] bool codes_after_search() const override { return true; }

  /// Returns what the squared error of an MCU row would be if the frame became a repeat. It counts all samples of the row
  /// in Y, U and V, with the padding. If the plan has weights, each MCU's error is weighted.
  [[nodiscard]] std::uint64_t repeat_error(int mcu_row) const;

 private:
  /// The weights of a plane's MCUs in an MCU row; null: no weights.
  [[nodiscard]] const Weight* weights_of_row(int plane, int mcu_row) const;
  /// Decides the row and fills in its levels and vectors. Returns D + λR.
  std::int64_t decide_row(int mcu_row);

  /// The frame's weights for luma and for chroma; empty: none.
  FrameWeights weights_;
  FrameWeights chroma_weights_;
  std::array<std::vector<LevelTable>, kPlanes> levels_;  ///< one table for the frame's λ, or one for each weight
  QuantizationTables level_tables_{};                    ///< the quantization tables for which levels_ was made
  Cost lambda_ = 0;                                      ///< the λ for which levels_ was made
  std::vector<PlaneSearch> searches_;  ///< one for each plane
  oneapi::tbb::enumerable_thread_specific<RowDecider> deciders_;
};

}  // namespace c63::cpu
