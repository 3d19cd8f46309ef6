#pragma once

#include <cstdint>

#include "codec/geometry.h"
#include "codec/bit_cost.h"
#include "cpu/block_prediction.h"
#include "cpu/decision_kernels.h"
#include "cpu/plane_search.h"
#include "decide/frame_plan.h"
#include "decide/cost.h"

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

}  // namespace c63::cpu
